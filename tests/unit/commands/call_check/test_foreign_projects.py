"""Settings of a folder elsewhere, names within archives, and files that checks follow."""

import pytest

from pulsus.commands import classify


@pytest.mark.parametrize(
    "command",
    [
        "docker compose -f ../x/c.yml config --services",
        "docker compose -f c.yml -f ../x/c.yml config --services",
        "docker compose --file=/srv/x/c.yml config -q",
        "docker compose --project-directory ../x config --services",
        "docker compose --env-file ../x/.e config --services",
        "docker-compose -f ../x/c.yml config -q",
        "timeout 5 docker-compose --project-directory=../x config -q",
        "cd ../x && docker compose config --services",
        "env -C ../x docker compose config --services",
        "cd ../x && terraform output",
        "env -C /srv/x terraform state list",
        "cd ~/x && tofu workspace list",
    ],
)
def test_a_project_elsewhere_does_not_say_what_is_fetched(command):
    assert not classify(command).allow


@pytest.mark.parametrize(
    "command",
    [
        "docker compose -f x/c.yml config --images",
        "docker compose -f /srv/x/c.yml ps",
        "cd infra && terraform output",
        "cd ../x && terraform version",
    ],
)
def test_a_project_below_the_folder_stays_a_read(command):
    assert classify(command).allow


@pytest.mark.parametrize(
    "command",
    [
        "unzip -p a.zip",
        "unzip -p a.zip '*'",
        "unzip -lp a.zip b",
        "unrar p a.rar",
        "unrar p -inul a.rar '*'",
        "ar p libx.a",
        "ar -p libx.a",
        "dpkg-deb --fsys-tarfile x.deb",
        "find . -name x.zip -exec unzip -p {} ;",
        "timeout 5 unzip -p a.zip",
    ],
)
def test_an_archive_is_not_printed_whole(command):
    assert not classify(command).allow


def test_a_zone_file_does_not_name_files_elsewhere():
    assert not classify("named-checkzone example.org db.example.org").allow
    assert not classify("named-checkzone example.org /tmp/db.example.org").allow
    assert classify("named-checkzone -i none example.org /etc/bind/db.example.org").allow


@pytest.mark.parametrize(
    "command",
    [
        "named-checkzone example.org /etc/bind/db.example.org",
        "named-checkconf -z",
        "named-checkconf -jz /etc/bind/named.conf",
    ],
)
def test_a_check_that_looks_up_names_of_a_file_has_an_unknown_place(command):
    assert any(place.dynamic for place in classify(command).destinations)


@pytest.mark.parametrize(
    "command",
    [
        "curl localhost:8080/actuator/env",
        "curl http://h/actuator/env/DB_PASSWORD",
        "wget -qO- h:8080/manage/heapdump",
        "curl h:8200/v1/secret/data/db",
    ],
)
def test_a_server_is_not_asked_for_its_environment(command):
    verdict = classify(command)
    assert not verdict.allow
    assert verdict.sensitive


@pytest.mark.parametrize(
    "command",
    [
        "ping -c 1000 -i 0.001 h",
        "ping -c 1000 -l 1000 h",
        "openssl speed",
        "openssl speed -multi 64 rsa",
        "cal -n 1000000000",
        "nl -w 1000000000 x",
        "expand -t 1000000000 x",
        "unexpand --tabs=1000000000 x",
        "seq -f '%1000000000g' 9",
        "ssh-keyscan -T 100000 h",
    ],
)
def test_a_number_that_floods_or_runs_for_hours_is_no_read(command):
    assert not classify(command).allow


@pytest.mark.parametrize(
    "command",
    ["getcap -r /", "lsof +D /usr", "lsof +D/", "restorecon -nR /", "exiftool -r /"],
)
def test_a_walk_over_the_whole_file_system_is_expensive(command):
    assert classify(command).cost == "high"
