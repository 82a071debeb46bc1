"""No grant for the session covers a command whose effect is in a file that may change."""

import pytest

from pulsus.agent.loop.call_draft import AskPerson
from pulsus.agent.tool_protocol import CallNeeds
from pulsus.gates.repeated_commands import is_decided_by_files, may_be_repeated
from tests.call_verdicts import control, draft


@pytest.mark.parametrize(
    "command",
    [
        *("bash /srv/x.sh", "sudo sh x.sh", "python3 /srv/f.py", "make -C /srv/app", "./deploy"),
        *("/srv/app/deploy --now", "source /srv/x", "ansible-playbook site.yml", "terraform apply"),
        *(
            "docker compose up -d",
            "docker-compose up",
            "docker build /srv",
            "kubectl apply -f x.yml",
        ),
        *(
            "kubectl apply -k /srv",
            "psql -f x.sql",
            "tar -x -T list",
            "xargs -a list rm",
            "git am x",
        ),
        *("tar -xPf /srv/x.tar", "tar xf x.tar", "unzip -: x.zip", "wget -i list", "sed -f x -i y"),
        *("rm --files0-from=list", "git apply x", "sqlite3 x.db '.read y'", "unzip x.zip"),
        *("timeout 5 bash x.sh", "nft -f rules", "rm $(cat list)", "tee /srv/x < list"),
    ],
)
def test_a_command_that_does_what_a_file_says_gets_no_grant(command):
    assert is_decided_by_files(command)
    assert not may_be_repeated(command, reads=False)


@pytest.mark.parametrize(
    "command",
    [
        *(
            "systemctl restart nginx",
            "docker restart web",
            "rm /srv/old.log",
            "kubectl delete pod x",
        ),
        *(
            "/usr/bin/systemctl restart nginx",
            "sudo systemctl reload nginx",
            "truncate -s 0 /srv/a",
            "tar -cf /srv/a.tar /srv/old",
        ),
    ],
)
def test_a_command_that_says_all_by_itself_may_get_one(command):
    assert not is_decided_by_files(command)
    assert may_be_repeated(command, reads=False)


@pytest.mark.parametrize(
    "command",
    [
        *("find /srv -exec /x.sh \\;", "setpriv /x.sh", "flock /l /x.sh", "env -S /x.sh", "x.sh"),
        *("PATH=/dir x.sh", "A=b systemctl restart nginx", "sudo A=b systemctl restart nginx"),
        *("strace /x.sh", "watch /x.sh", "unshare /x.sh", "runuser -u a -- /x.sh", "su -c /x.sh"),
        *("script -c /x.sh /log", "nsenter -t 1 /x.sh", "lxc-attach -n x -- /x.sh", "perf stat x"),
        *("start-stop-daemon --start --exec /x.sh", "sort --compress-program=/x.sh /a"),
        *("split --filter=/x.sh /a", "rsync -e /x.sh a web1:/x", "git -c core.editor=/x.sh commit"),
        *("ip -batch F", "ldapmodify -f F", "iptables-restore F", "openvpn --config F", "git pull"),
        *("virsh define F", "pip install -r F", "apt install ./x.deb", "podman play kube F"),
        *("julia F", "R -f F", "mono F", "jest", "pytest", "deploy", "sysctl -p F", "scons"),
        *("cp /a /b", "mv /a /b", "tee /b", "dd if=/a of=/b", "crontab F", "at -f F now"),
        *("ssh web1 ./x.sh", "ssh web1 bash x", "ssh -o ProxyCommand=/x.sh web1 service a stop"),
        *("docker exec web /x.sh", "docker run alpine /x.sh", "kubectl exec pod -- /x.sh"),
        *("docker rm --link x", "kubectl delete -f F", "kubectl delete --kubeconfig=F pod x"),
        *("rm /srv/*", "touch -r /a /b", "chmod --reference=/a /b", "tar -cf web1:/a /b"),
        *("tar -cf /a --checkpoint-action=exec=/x.sh /b", "tar -cIf /x.sh /a /b", "tar /a /b"),
        *("systemctl start /srv/x.service", "systemctl link /srv/x.service", "systemctl edit x"),
        *(
            "systemctl restart nginx && /x.sh",
            "systemctl restart nginx > /etc/x",
            "./systemctl stop x",
        ),
        *("/srv/bin/systemctl restart nginx", "timeout 5 /x.sh", "/srv/sudo systemctl stop x"),
        *("systemctl restart nginx | tee /srv/a", "virsh 'start a; define F'", "sudo -i", "sudo"),
    ],
)
def test_no_grant_covers_what_is_not_listed_with_every_word(command):
    assert not may_be_repeated(command, reads=False)


@pytest.mark.parametrize(
    "command",
    [
        *("systemctl restart nginx 2>&1", "systemctl stop a && systemctl start a >/dev/null"),
        *("sudo -n systemctl restart nginx", "timeout 30 docker restart -t 5 web", "qm reboot 100"),
        *("kubectl -n shop rollout restart deploy/web", "kubectl scale deploy/web --replicas=3"),
        *("ssh web1 sudo systemctl restart nginx", "service nginx reload", "mkdir -p /srv/a"),
        *("chmod -R u+rw /srv/a", "chown ops:ops /srv/a", "journalctl --vacuum-size=1G"),
    ],
)
def test_everyday_changes_may_get_a_grant(command):
    assert may_be_repeated(command, reads=False)


def test_a_proven_read_may_get_a_grant_without_variables():
    assert may_be_repeated("df -h", reads=True)
    assert not may_be_repeated("LANG=C df -h", reads=True)
    assert not may_be_repeated("df $(x)", reads=True)


def test_a_person_is_not_offered_a_grant_for_a_script():
    keys = []
    for command in ("bash /srv/x.sh", "systemctl restart nginx"):
        needs = CallNeeds("command", (), command=command)
        asked = control().decide(draft("pulsus_run_command", "write", needs, command=command))
        assert isinstance(asked, AskPerson)
        keys.append(bool(asked.request.grant_key))
    assert keys == [False, True]


def test_a_person_is_told_that_the_content_of_a_file_decides():
    told = []
    for command in ("make -C /srv/app", "systemctl restart nginx"):
        needs = CallNeeds("command", (), command=command)
        asked = control().decide(draft("pulsus_run_command", "write", needs, command=command))
        assert isinstance(asked, AskPerson)
        told.append("content of a file decides" in asked.request.description)
    assert told == [True, False]
