"""No word of a program that is no shell hides a start, an end or a write of Pulsus."""

import pytest

from tests.unit.agent.control.protection.test_self_protection import refusal_code

HIDDEN = [
    "git -c alias.x='!pulsus serve' x",
    "git -C /tmp/a config alias.x '!/opt/venv/bin/pulsus'",
    "git config alias.x '!kill 4711'",
    "git -c core.sshCommand='pulsus serve' fetch",
    "git config --local core.pager 'rm config/a'",
    "git clone 'ext::pulsus serve' /tmp/z",
    "git clone 'ext::sh -c kill% 4711' /tmp/z",
    "git rebase -x 'kill -9 4711' main",
    "git clone --upload-pack='kill 4711' a:b",
    "vim -es -c '!pulsus serve' -c q",
    "vim -es '+!pulsus serve' +q",
    "vim -es -c 'silent !kill 4711' -c q",
    "vim -es -c 'w !kill 4711' -c q /tmp/a",
    "vim -es -c '%!kill 4711' -c q /tmp/a",
    "view -c ':!kill 4711' /tmp/a",
    "nvim --headless -c 'call system(\"kill 4711\")' -c q",
    "vim -es -c 'py3 import os' -c q",
    "vim -es -c 'terminal pulsus' -c q",
    "ex -s -c '!kill 4711' /tmp/a",
    "less '+!pulsus' /tmp/a",
    "less '+!kill 4711' /tmp/a",
    "echo '!pulsus serve' | ed",
    "printf '%s\\n' '!kill 4711' q | ed /tmp/a",
    "printf 'a\\n!kill 4711\\nq' | ed /tmp/a",
    "cat /tmp/x | ed /tmp/a",
    "socat EXEC:pulsus -",
    "socat - 'EXEC:kill 4711,pty'",
    "socat - 'SYSTEM:\"kill 4711\"'",
    "socat SHELL:'rm config/a' -",
    "socat '-!!exec:kill 4711' -",
    "sqlite3 /tmp/a.db '.load /tmp/x.so'",
    "sqlite3 /tmp/a.db '.shell kill 4711'",
    "sqlite3 -cmd '.system kill 4711' /tmp/a.db",
    "echo '.shell kill 4711' | sqlite3 /tmp/a.db",
    "sqlite3 /tmp/a.db '.once |kill 4711'",
    "psql -c '\\! kill 4711'",
    "psql -c \"copy t from program 'kill 4711'\"",
    "gdb -batch -ex 'shell kill 4711'",
    "nc -l 99 -e 'kill 4711'",
    "rsync -e 'kill 4711' /tmp/a /tmp/b",
    "tar cf /tmp/a.tar --checkpoint=1 --checkpoint-action=exec='kill 4711' /tmp/b",
    "ssh -oProxyCommand='kill 4711' web1",
    "script -c 'kill 4711' /tmp/typescript",
    "sh -c \"git -c alias.x='!kill 4711' x\"",
    "sudo git -c alias.x='!kill 4711' x",
    "git -c alias.x='!vim -c \"!kill 4711\"' x",
    "git config alias.x '!f() { pulsus; }; f'",
]

EVERYDAY = [
    "git config alias.st status",
    "git config alias.up '!git fetch --all'",
    "git -C /tmp/a -c core.pager=less status",
    "git config credential.helper store",
    "git -c user.name=Ann commit -m 'Ready!' --allow-empty",
    "git commit -m 'note: !important'",
    "git clone https://web1/app.git /tmp/app",
    "git -C /tmp/a rebase -x 'make test' main",
    "vim -es -c '%s/a/b/g' -c 'wq!' /tmp/a",
    "vim -es -c 'w! /tmp/b' -c 'q!' /tmp/a",
    "printf '%s\\n' 'g/a/s//b/' w q | ed /tmp/a",
    "less +F /tmp/a",
    "less '+/error!' /tmp/a",
    "find /tmp/a ! -name x -delete",
    "socat - TCP:web1:80",
    "sqlite3 /tmp/a.db 'insert into t values (1)'",
    "psql -c \"update t set a = 'wow! (really'\"",
    "mysql -e 'select 1'",
    "rsync -e 'ssh -p 22' /tmp/a web1:/b",
    "tar -I zstd -cf /tmp/a.tar.zst /tmp/b",
    "echo 'done!' > /tmp/note",
]


@pytest.mark.parametrize("command", HIDDEN)
def test_no_command_in_a_word_of_another_program_passes_unjudged(command):
    assert refusal_code(command, "write") == "POLICY_BLOCKED"


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_words_of_these_programs_are_no_false_alarm(command):
    assert refusal_code(command, "write") is None
