"""The place of a write, and what it may replace, are never more than proposed."""

import pytest

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.write_choices import propose_write_choices
from pulsus.core.types import ArgSpec

INPUTS = from_arguments(
    [
        ArgSpec("path", "str", True, None, "The file to write."),
        ArgSpec("dry_run", "bool", False, "False", "True changes nothing."),
        ArgSpec("overwrite", "bool", False, "False", "Replace the file if it exists."),
    ],
    "save_report",
    "Write a text to a file.",
).inputs


def proposed(text, earlier=()):
    found = list(propose_write_choices(text, INPUTS, earlier))
    assert all(one.state == "propose" for one in found)
    return {one.name: one.value for one in found}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dump that to /tmp/exposed.json", {"path": "/tmp/exposed.json"}),
        (
            "save to /root/opt.json overwriting last week's",
            {"path": "/root/opt.json", "overwrite": True},
        ),
        (
            "write /data/hosts.json (replace if there)",
            {"path": "/data/hosts.json", "overwrite": True},
        ),
        ("into /tmp/a.md but dry run first", {"path": "/tmp/a.md", "dry_run": True}),
        ("to /tmp/a.md, dont write it for real yet", {"path": "/tmp/a.md", "dry_run": True}),
        ("save as /tmp/a.md, do not overwrite it", {"path": "/tmp/a.md"}),
        ("save it, no dry run", {}),
    ],
)
def test_what_is_said_about_writing_is_proposed(text, wanted):
    assert proposed(text) == wanted


def test_a_file_that_an_earlier_step_reads_is_no_place_to_write_to():
    assert proposed("the errors in /var/log/a.log", {"/var/log/a.log"}) == {}


def test_two_places_are_no_place():
    assert proposed("save to /tmp/a.md and to /tmp/b.md") == {}


SETTING = from_arguments(
    [
        ArgSpec("path", "str", True, None, "The file to change."),
        ArgSpec("key", "str", True, None, "The setting."),
        ArgSpec("value", "str", True, None, "Its new value."),
        ArgSpec("section", "str", False, "''", "The section."),
    ],
    "set_config_line",
    "Set one setting.",
).inputs


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("set max_connections to 250 in svc/db.ini", "max_connections", "250"),
        ("change log_level in svc/app.toml to warn.", "log_level", "warn"),
        (
            "set the option PermitRootLogin to 'without password'",
            "PermitRootLogin",
            "without password",
        ),
        ("set PORT=8080", "PORT", "8080"),
        ("raise server.workers to 8", "server.workers", "8"),
        ("make sure it is set to 5", None, None),
        ("set a to 1 and set b to 2", None, None),
        ("set it to 5", None, None),
        ("make the timeout 30 in app.ini", "timeout", "30"),
        ("in app.yaml the port must become 8443", "port", "8443"),
        ("make debug off in svc/settings.yaml", "debug", "off"),
        ("make the retry limit 5 in worker.ini", None, "5"),
        ("make it 5 in worker.ini", None, None),
    ],
)
def test_a_setting_and_its_value_are_not_mixed_up(text, key, value):
    found = {v.name: v.value for v in propose_write_choices(text, SETTING)}
    assert (found.get("key"), found.get("value")) == (key, value)


def test_the_section_of_a_setting_is_read():
    text = "change timeout in the section http of svc/app.toml to 45"
    found = {v.name: v.value for v in propose_write_choices(text, SETTING)}
    assert found == {"key": "timeout", "value": "45", "section": "http"}


BACKUP = from_arguments(
    [
        ArgSpec("folder", "str", True, None, "The file or folder to back up."),
        ArgSpec("archive", "str", True, None, "The archive to write."),
    ],
    "create_backup",
    "Back up a file or folder.",
).inputs


@pytest.mark.parametrize(
    ("text", "folder", "archive"),
    [
        ("back up /etc/rsyslog.d to /tmp/r.tgz", "/etc/rsyslog.d", "/tmp/r.tgz"),
        ("back up /opt/g/g.ini into /root/bak", "/opt/g/g.ini", "/root/bak"),
        ("make /mnt/b writable, write an archive of /home/git to it", "/home/git", None),
    ],
)
def test_what_is_backed_up_is_not_the_archive(text, folder, archive):
    found = {v.name: v.value for v in propose_write_choices(text, BACKUP)}
    assert (found.get("folder"), found.get("archive")) == (folder, archive)
