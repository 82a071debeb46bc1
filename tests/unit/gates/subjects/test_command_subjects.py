"""The subjects of commands: a read of something else verifies no write."""

import pytest

from pulsus.gates.subjects.command_subjects import file_subjects, shown_subjects, written_subjects

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


@pytest.mark.parametrize(
    "read",
    [
        *("true || systemctl status nginx", "systemctl status nginx || true"),
        *("systemctl status nginx > /dev/null", "systemctl status nginx &> /dev/null"),
        *("systemctl status nginx | true", "systemctl status nginx | head -n 0"),
        *("systemctl status nginx | head -c 0", "systemctl status nginx | grep -c zzz"),
        *("systemctl status nginx | md5sum", "systemctl list-units | head -1"),
        *("systemctl list-units --type=mount", "systemctl show nginx -p Id", "systemctl cat nginx"),
        *("journalctl -u nginx -n 0", "journalctl -u nginx --since x --until y", "man nginx"),
        *("journalctl -u nginx -b -1", "grep nginx /etc/passwd", "which nginx", "whatis nginx"),
        *("systemctl -H web1 status nginx", "ssh web1 systemctl status nginx"),
        *("systemctl --user status nginx", "systemctl -M box status nginx"),
    ],
)
def test_a_read_that_cannot_show_the_service_shows_nothing_of_it(read):
    assert shown_subjects(read).isdisjoint(written_subjects("systemctl restart nginx"))


@pytest.mark.parametrize(
    ("command", "read"),
    [
        *(("docker restart web", f"docker {group} inspect web") for group in ("network", "image")),
        ("docker restart web", "docker inspect -f '{{.Id}}' web"),
        ("docker restart web", "docker inspect -f x web"),
        ("docker restart web", "docker --context x inspect web"),
        ("docker restart web", "docker logs --tail 0 web"),
        ("docker restart web", "docker ps -n 1"),
        ("kubectl scale deployment/api --replicas=3", "kubectl get deployment api -n other"),
        ("kubectl -n prod scale deployment/api --replicas=3", "kubectl get deployment api"),
        ("kubectl scale deployment/api --replicas=3", "kubectl get svc api"),
        ("kubectl scale deployment/api --replicas=3", "kubectl get deployment api -o name"),
        ("kubectl scale deployment/api --replicas=3", "kubectl explain deployment api"),
        ("echo x > /etc/y", "stat -c %n /etc/y"),
        ("echo x > /etc/y", "head -n 0 /etc/y"),
        ("echo x > /etc/y", "cat /etc/y > /dev/null"),
        ("echo x > /etc/y", "realpath /etc/y"),
        ("echo x > /etc/y", "diff -q /etc/y /etc/y"),
        ("rm /srv/app/a", "ls -I a /srv/app"),
        ("rm /srv/app/a", "ls /srv/app | head -n 0"),
        ("rm /srv/app/a", "find /srv/app -name b"),
        ("mount /dev/sdb1 /mnt", "findmnt -s /mnt"),
        ("mount /dev/sdb1 /mnt", "grep /mnt /etc/fstab"),
        ("sysctl -w vm.swappiness=10", "sysctl -N vm.swappiness"),
    ],
)
def test_a_read_that_cannot_show_the_change_shows_nothing_of_it(command, read):
    assert shown_subjects(read).isdisjoint(written_subjects(command))


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("systemctl restart nginx", "systemctl status nginx | grep Active"),
        ("systemctl restart nginx", "systemctl show nginx -p ActiveState,SubState"),
        ("systemctl restart nginx", "ps aux | grep nginx"),
        ("apt-get install -y nginx", "systemctl status nginx"),
        ("docker restart web", "docker inspect -f '{{.State.Status}}' web"),
        ("docker restart web", "docker ps --format '{{.Names}} {{.Status}}'"),
        ("docker volume rm web", "docker volume inspect web"),
        ("kubectl -n prod scale deployment/api --replicas=3", "kubectl get deploy api -n prod"),
        ("kubectl scale deployment/api --replicas=3", "kubectl rollout status deployment/api"),
        ("kubectl scale deployment/api --replicas=3", "kubectl get pods"),
        ("kubectl delete pod web-1", "kubectl get pods -o wide"),
        ("systemctl --user restart app", "systemctl --user status app"),
        ("echo x > /etc/y", "stat -c '%s %n' /etc/y"),
        ("echo x > /etc/y", "cat /etc/y 2> /dev/null"),
    ],
)
def test_a_read_in_the_same_place_shows_the_change(command, read):
    assert not shown_subjects(read).isdisjoint(written_subjects(command))
