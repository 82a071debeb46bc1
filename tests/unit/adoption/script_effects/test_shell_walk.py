"""Single commands of a shell script show what the script changes (`pulsus tools adopt`)."""

import pytest

from pulsus.adoption.script_effects.shell_walk import collect_facts

READS = [
    "df -P | awk -v l=$L 'NR > 1 && $5 + 0 > l { print $6, $5 }'",
    "awk -F: '$3 >= 1000 { print $1 }' /etc/passwd",
    "awk '/a|b/ { n++ } END { print n > \"/dev/stderr\" }' f",
    "awk '{ getline line < \"f\"; print line }'",
    "sed -n '/a/,/b/p' f",
    "sed -e 's#/#_#g' -e '/^$/d' \"$1\"",
    "sed -E 's/(a|b)+/\\1/;3q' f",
    "ls 2>&1 >/dev/null",
    "ls >&2 2>&-",
    "cat f &> /dev/null",
    "find $D -type f -exec grep -l x {} +",
    'x=$(date +%F); echo "$x" | tee /dev/null',
    "tar tzf a.tgz; tar -tvf b; unzip -l c",
    "sort -u a | uniq -c",
    "dd if=a bs=1M | wc -c",
    "env -i A=b ls",
    "/usr/bin/grep y f",
    "git log --oneline -5",
    "journalctl -u x --no-pager",
    "ip -br a; ip route show",
    "python3 -m json.tool f",
    "PATH=/usr/bin:/bin:$PATH ls",
    "mapfile -t a < f; read x < f; echo $(<f)",
    "command -v rm; type rm",
    "java --version",
    'tail -n $N "$f"; head -n "$N" "$f"; sleep $N',
    'grep -E "$p" $files; sort -- *.log; stat -c "$f" "$x"',
    'lsblk --json; rg -n x .; readelf -h "$f"',
]
WRITES = [
    ("exec -a n rm x", {"rm"}),
    ("\\rm x; 'cp' a b", {"rm", "cp"}),
    ("time -p rm x", {"rm"}),
    ("f() { ls; }; xargs f", {"f", "ls"}),
    ("rm() { ls; }; xargs rm; rm", {"rm", "ls"}),
    ("xargs -0n 1 rm; xargs -i mv {}; xargs --max-args 1 cp", {"rm", "mv", "cp"}),
    ("sudo --user bob rm x; nice -10 mv a b", {"sudo", "rm", "mv"}),
    ("find . -execdir rm {} +", {"find", "rm"}),
    ("find / -exec sh -c 'rm \"$1\"' _ {} \\;", {"find", "sh", "rm"}),
    ("bash <<'X'\nrm z\nX", {"bash", "rm"}),
    ("/opt/x/grep y", {"/opt/x/grep"}),
    ("sort -uo x a", {"sort"}),
    ("sort --out=x a", {"sort"}),
    ("uniq a b", {"uniq"}),
    ("date 0101", {"date"}),
    ("hostname x", {"hostname"}),
    ("git -c core.pager=x log; git log --output=x", {"git"}),
    ("journalctl --vacuum-time=1d", {"journalctl"}),
    ("tar --to-command=x -tf a", {"tar"}),
    ("ip -b f", {"ip"}),
    ("crontab -r; dmesg -C", {"crontab", "dmesg"}),
    ("sed -i s/a/b/ f", {"sed"}),
    ("systemctl -H host status x", {"systemctl"}),
    ("sort *", {"sort"}),
    ("sort $f", {"sort"}),
    ("git log $x", {"git"}),
    ("ls | xargs hash", {"hash"}),
    ("chrt 1 ls", {"chrt"}),
    ("curl https://a.example/", {"curl"}),
    ('jq ".$x" f', {"jq"}),
]
DOUBTS = [
    "$CMD x",
    "${RM:-rm} x",
    '"$@"',
    "`which rm` x",
    "ls | sh",
    "bash other.sh",
    "sh -c \"$x\"",
    "source <(echo x)",
    "sed 's/a/b/e' f",
    "sed 's/a/b/gw out' f",
    "sed -f x f",
    "awk '{ print > \"x\" }' f",
    "awk '{ system(\"rm\") }' f",
    "awk 'BEGIN { \"ls\" | getline l }'",
    "awk -f p f",
    'awk "$1" f',
    'awk "{ print \\$$n }" f',
    'sed -n "${a}p" f',
    'sqlite3 f "select $x"',
    "python3 -c 'x'",
    "mysql -e x",
    "ssh host reboot",
    "PATH=.:$PATH ls",
    "export LD_PRELOAD=x",
    "mapfile -C rm -c 1 a",
    "xargs --strange 1 rm",
    "env -S 'rm x'",
    "find $X -name y $MORE",
    "ls 'unclosed",
    "\\time -o f ls",
]  # fmt: skip


@pytest.mark.parametrize("text", READS)
def test_a_reading_call_makes_no_write_script(text):
    found = collect_facts(text, "sh")
    assert (found.kind, found.notes, found.effects.hosts) == ("read", (), ())


@pytest.mark.parametrize(("text", "programs"), WRITES)
def test_a_call_that_may_change_something_is_write_and_declares_its_programs(text, programs):
    found = collect_facts(text, "sh")
    assert found.kind == "write"
    assert programs <= found.commands


@pytest.mark.parametrize("text", DOUBTS)
def test_an_unknown_effect_is_reported_with_its_line(text):
    found = collect_facts(f"ls\n{text}\n", "sh")
    assert found.kind == "write"
    assert {line for line, _, _ in found.doubts} == {2}


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ('trap "rm -f $T" EXIT', {"rm"}),
        ('eval "rm $x"', {"rm"}),
        ("bash <<E\nrm $x\nE", {"bash", "rm"}),
        ('alias a="rm $x"', {"rm"}),
        ('sh -c "cd $x && mv a b"', {"sh", "mv"}),
    ],
)
def test_a_text_run_as_script_declares_its_programs_and_a_doubt(text, programs):
    found = collect_facts(text, "sh")
    assert programs <= found.commands
    assert found.doubts


@pytest.mark.parametrize(
    ("text", "paths", "hosts"),
    [
        ("ls > /tmp/a >> b", {"/tmp/a", "b"}, set()),
        ("{ ls; } >| out", {"out"}, set()),
        ("for i in a; do ls; done &> out", {"out"}, set()),
        ("ls | tee -a x y", {"x", "y"}, set()),
        ("dd if=a of=/dev/sdz", {"/dev/sdz"}, set()),
        ("find . -fprint out", {"out"}, set()),
        ("exec 3<>/dev/tcp/h.example/80", set(), {"h.example"}),
    ],
)
def test_literal_files_and_hosts_are_declared(text, paths, hosts):
    found = collect_facts(text, "bash")
    assert (found.kind, found.paths, found.hosts) == ("write", paths, hosts)
    assert not found.doubts


@pytest.mark.parametrize("text", ["ls > $f", 'ls > "$d/x"', "ls | tee $f", "dd of=$x", "ls > a*"])
def test_an_unknown_file_leaves_the_programs_known(text):
    effects = collect_facts(text, "sh").effects
    assert "unknown: read the script" in effects.paths
    assert "unknown: read the script" not in effects.commands
