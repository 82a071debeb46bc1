"""No grant for the session covers a command whose effect is in a file that may change."""

import pytest

from pulsus.agent.loop.call_draft import AskPerson
from pulsus.agent.tool_protocol import CallNeeds
from pulsus.gates.repeated_commands import is_decided_by_files
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
