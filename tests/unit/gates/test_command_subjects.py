"""The subjects of commands: a read of something else verifies no write."""

import pytest

from pulsus.gates.command_subjects import file_subjects, shown_subjects, written_subjects

WRITES = [
    ("systemctl restart nginx", "nginx"),
    ("sudo systemctl stop my.service && uptime", "my"),
    ("apt-get update && apt-get install -y nginx=1.2", "nginx"),
    ("docker restart web", "web"),
    ("kubectl -n prod scale deployment/api --replicas=3", "api"),
    ("bash -c 'systemctl restart nginx'", "nginx"),
    ("systemctl restart nginx $(cat x)", "nginx"),
    ("kill -9 1234", "1234"),
    ("usermod -aG docker bob", "bob"),
    ("mount /dev/sdb1 /mnt", "/mnt"),
    ("sysctl -w vm.swappiness=10", "vm.swappiness"),
    ("echo x | sudo tee -a /etc/y 2>&1", "/etc/y"),
    ("echo x > /etc/y", "/etc/y"),
    ("echo $(date) > /etc/y", "/etc/y"),
    ("cd /srv/app && touch a.txt", "/srv/app/a.txt"),
    ("sed -i s/a/b/ /etc/hosts", "/etc/hosts"),
    ("chmod 644 /etc/x", "/etc/x"),
    ("cp /etc/hosts /tmp/h", "/tmp/h"),
    ("cp -t /srv/x a b", "/srv/x"),
    ("dd if=/dev/zero of=/srv/f bs=1", "/srv/f"),
    ("tar -xf a.tgz -C /srv/app", "/srv/app"),
]


@pytest.mark.parametrize(("command", "subject"), WRITES)
def test_a_write_is_read_by_the_name_of_what_it_changes(command, subject):
    assert written_subjects(command)[0] == subject


@pytest.mark.parametrize("command", [command for command, _ in WRITES])
@pytest.mark.parametrize(
    "read", ["uptime", "echo nginx web api bob", "df -h /home", "cat /etc/hostname", "uname -a"]
)
def test_a_read_of_something_else_shows_no_subject(command, read):
    assert shown_subjects(read).isdisjoint(written_subjects(command))


@pytest.mark.parametrize(
    "command", ["systemctl daemon-reload", "./deploy.sh prod", "reboot", "git pull", "df -h", ""]
)
def test_a_command_that_names_nothing_has_no_subjects(command):
    assert written_subjects(command) == ()


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("systemctl restart nginx", "systemctl is-active 'nginx'"),
        ("systemctl restart nginx", "journalctl -u nginx -n 50"),
        ("systemctl restart nginx", "systemctl list-units --failed"),
        ("docker rm web", "docker ps -a"),
        ("docker rm web", "docker ps | grep web"),
        ("apt-get install nginx", "dpkg -l | grep -c nginx"),
        ("apt-get install nginx", "nginx -v"),
        ("kill 1234", "ps -p 1234"),
        ("rm /srv/app/x", "ls -la /srv/app"),
        ("tee /srv/app/x", "wc -l /srv/app/x 2>&1"),
        ("tar -xf a.tgz -C /srv/app", "cat /srv/app/conf/main.py"),
        ("touch notes.txt", "cat /home/bob/notes.txt"),
        ("mount /dev/sdb1 /mnt", "df -h"),
    ],
)
def test_a_read_that_names_or_lists_a_subject_shows_it(command, read):
    assert not shown_subjects(read).isdisjoint(written_subjects(command))


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("systemctl restart nginx", "systemctl status redis"),
        ("systemctl restart nginx", "systemctl list-units | grep redis"),
        ("systemctl restart nginx", "grep nginx /etc/hostname"),
        ("chmod -R 755 /etc", "cat /etc/hostname"),
        ("qm start 100", "tail -n 100 /var/log/syslog"),
        ("rm /srv/app/x", "ls /srv/other"),
    ],
)
def test_a_read_of_a_neighbour_does_not_show_the_subject(command, read):
    assert shown_subjects(read).isdisjoint(written_subjects(command))


def test_an_edited_file_is_shown_by_itself_and_by_the_listing_of_its_folder():
    written = file_subjects(["/etc/app.conf"])
    assert not shown_subjects(paths=["/etc/app.conf"]).isdisjoint(written)
    assert not shown_subjects(paths=["/etc"], lists=True).isdisjoint(written)
    assert shown_subjects(paths=["/etc"]).isdisjoint(written)
    assert shown_subjects(paths=["/etc/hostname"]).isdisjoint(written)
