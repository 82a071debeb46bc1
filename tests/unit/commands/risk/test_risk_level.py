"""Risk is what is at stake."""

from pulsus.commands import classify

RISKS = [
    ("df -h", 0),
    ("cat a | grep b", 0),
    ("tail -f log", 1),
    ("less log", 1),
    ("cat /dev/zero", 1),
    ("mkdir x", 2),
    ("sed -i s/a/b/ f", 2),
    ("frobnicate", 2),
    ("docker exec -it web sh", 3),
    ("rm f", 3),
    ("/bin/rm f", 3),
    ("systemctl stop db", 3),
    ("systemctl --now disable db", 3),
    ("service db stop", 3),
    ("service db restart", 3),
    ("docker volume rm x", 3),
    ("docker ps && docker rm x", 3),
    ("zfs destroy -r tank/x", 3),
    ("zfs create tank/x", 2),
    ("kubectl delete pod x", 3),
    ("find . -name x -delete", 3),
    ("sysctl -w vm.x=1", 3),
    ("ip route del default", 3),
    ("crontab -r", 3),
    ("git reset --hard", 3),
    ("git reset", 2),
    ("git -C a push -f", 3),
    ("aws ec2 terminate-instances --instance-ids a", 3),
    ("gcloud compute instances delete a", 3),
    ("rsync -a --delete a b", 3),
    ("env -S 'rm a'", 3),
    ("top", 1),
    ("apt list && mkdir x", 2),
    ("cat a > b", 3),
    ("ls 2> errors", 3),
    ("ls 2>/dev/null; mkdir x", 2),
    ("cat a | tee b", 3),
    ("sudo cat a", 3),
    ("timeout 5 sudo cat a", 3),
    ("bash -c 'echo done'", 2),
    ("bash -c 'echo done; rm x'", 3),
    ("ssh host reboot", 3),
    ("ls | xargs rm", 3),
    ("echo $(cat a)", 2),
    ("echo $(rm a)", 3),
    ("echo 'unclosed; rm -rf /", 3),
    ("$(x) > /dev/null", 2),
    ("sleep 5 & sync", 1),
    ("mysql -e 'DROP DATABASE shop'", 3),
    ("psql -c 'drop table t'", 2),
    ("mongosh --eval 'db.dropDatabase()'", 3),
    ("mv a b", 2),
]


def test_risk_is_what_is_at_stake():
    assert [(command, classify(command).risk) for command, _ in RISKS] == RISKS


def test_a_prompt_can_do_anything():
    assert classify("psql -h db").risk == 2
    assert classify("psql < changes.sql").risk == 2
