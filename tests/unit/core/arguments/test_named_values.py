"""A value beside the name of its input is proposed, and goes to no other input."""

import pytest

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.named_values import propose_named_values
from pulsus.core.types import ArgSpec


def inputs(tool, summary, **described):
    args = [ArgSpec(key, kind, False, "''", text) for key, (kind, text) in described.items()]
    return from_arguments(args, tool, summary).inputs


ACCESS = inputs(
    "set_permissions",
    "Set owner, group and mode of a file.",
    path=("str", "A file or folder."),
    owner=("str", "The new owner."),
    group=("str", "The new group."),
    mode=("str", "The new mode: octal or symbolic."),
)
USERS = inputs(
    "create_user",
    "Create a local user account.",
    user=("str", "The login name."),
    groups=("str", "Further groups, separated by commas."),
    shell=("str", "The login shell."),
)
CERTIFICATE = inputs(
    "renew_certificate",
    "Renew a certificate file.",
    key=("str", "The private key."),
    authority=("str", "The certificate of the authority."),
    authority_key=("str", "The private key of the authority."),
)
PROCESS = inputs(
    "stop_process",
    "Stop one process.",
    pid=("int", "The process id."),
    name=("str", "The expected name."),
)


def read(text, of):
    return {value.name: value.value for value in propose_named_values(text, of)}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("chown it to wiki:www-data", {"owner": "wiki", "group": "www-data"}),
        ("make /srv/www owned by deploy, mode 0750", {"owner": "deploy", "mode": "0750"}),
        ("chmod 0600 /etc/a.key; chgrp it to ssl-cert", {"mode": "0600", "group": "ssl-cert"}),
        ("set /srv/p to owner jan mode u=rwX,go=", {"owner": "jan", "mode": "u=rwX,go="}),
        ("give app.toml mode 0664", {"mode": "0664"}),
        ("permissions on the upload folder to 2775", {"mode": "2775"}),
        ("switch the mode bits of notes.txt to u=rw,go=r", {"mode": "u=rw,go=r"}),
        ("chmod notes.txt to 604", {"mode": "604"}),
        ("chmod the new key to 400", {"mode": "400"}),
        ("set permissions to 98765 and mode of fan to fast", {}),
        ("chmod notes.txt, then show 640 lines", {}),
        ("show owner and group of /srv/p", {}),
        ("fetch it from cache:6379", {}),
    ],
)
def test_owner_group_and_mode_are_not_lost_or_mixed_up(text, wanted):
    assert read(text, ACCESS) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("groups docker,www-data and then", {"groups": "docker,www-data"}),
        (
            "groups docker, web and ops, shell /bin/zsh",
            {"groups": "docker,web,ops", "shell": "/bin/zsh"},
        ),
        ("a login telegraf with shell /bin/sh", {"user": "telegraf", "shell": "/bin/sh"}),
        ("lock the account and restart it", {}),
    ],
)
def test_groups_stay_whole_and_common_words_are_no_names(text, wanted):
    assert read(text, USERS) == wanted


def test_the_key_of_the_authority_is_not_the_key_of_the_certificate():
    text = "renew it with key /etc/a.key, authority /etc/ca.pem, authority key /etc/ca.key"
    assert read(text, CERTIFICATE) == {
        "key": "/etc/a.key",
        "authority": "/etc/ca.pem",
        "authority_key": "/etc/ca.key",
    }


@pytest.mark.parametrize(
    "text", ["kill pid 4821 (java)", "stop java with pid 4821", "process 4821 named java"]
)
def test_the_name_beside_a_process_id_is_not_lost(text):
    assert read(text, PROCESS)["name"] == "java"


@pytest.mark.parametrize(
    "text",
    [
        "make key.pem readable only by me",
        "make key.pem readable for its owner only",
        "make key.pem private",
        "restrict key.pem to the owner",
        "let only the owner read key.pem",
        "nobody but me should read key.pem",
    ],
)
def test_a_private_file_loses_what_others_could_do(text):
    found = {one.name: one.value for one in propose_named_values(text, ACCESS)}
    assert found.get("mode") == "go-rwx"


@pytest.mark.parametrize(
    "text",
    [
        "make key.pem readable by me",
        "make key.pem readable",
        "let only the group ops read key.pem",
        "set owner ada on private.pem",
    ],
)
def test_others_lose_no_access_if_the_request_does_not_say_so(text):
    assert "mode" not in {one.name for one in propose_named_values(text, ACCESS)}
