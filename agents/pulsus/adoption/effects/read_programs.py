"""Which calls of well-known programs only read. Pure.

A program or an option that is not known here is no proof: it counts as one that may change things.
What a call prints is no change. A word that only shows when the script runs is taken for the
operand it stands for, unless it may become several words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pulsus.adoption.effects.shell_values import HOLE, Word

Call = Sequence[Word]
"""The words behind the program's name."""

_ALWAYS = frozenset(
    (
        *("[", "basename", "cat", "cksum", "cmp", "comm", "cut", "df", "diff", "dirname", "du"),
        *("b2sum", "base32", "base64", "bc", "bzcat", "cal", "column", "dir", "echo", "egrep"),
        *("expand", "expr", "factor", "false", "fgrep", "findmnt", "fmt", "fold", "free", "grep"),
        *("getconf", "groups", "head", "hexdump", "id", "ipcs", "join", "jq", "last", "lsblk"),
        *("locale", "logname", "ls", "lscpu", "lsmod", "lspci", "lsusb", "md5sum", "mountpoint"),
        *("nl", "nproc", "numfmt", "od", "paste", "pgrep", "pidof", "pmap", "pr", "printenv"),
        *("printf", "ps", "pstree", "pwd", "readlink", "realpath", "rev", "seq", "sha1sum"),
        *("sha224sum", "sha256sum", "sha384sum", "sha512sum", "sleep", "stat", "strings", "sum"),
        *("tac", "tail", "test", "tr", "true", "tsort", "tty", "uname", "unexpand", "uptime"),
        *("users", "vdir", "vmstat", "w", "wc", "whereis", "which", "who", "whoami", "xzcat"),
        *("zcat", "zegrep", "zfgrep", "zgrep", "zstdcat"),
    )
)
_GIT = frozenset(
    ("log", "show", "rev-parse", "rev-list", "ls-files", "ls-tree", "cat-file", "describe")
) | frozenset(("blame", "shortlog", "for-each-ref", "merge-base", "name-rev", "diff-tree"))
_SYSTEMCTL = frozenset(
    ("status", "is-active", "is-enabled", "is-failed", "list-units", "list-timers", "show", "cat")
) | frozenset(("list-unit-files", "list-dependencies", "list-sockets", "get-default"))


def reads(name: str, call: Call) -> bool:
    """Whether this call of the program called `name` (without folders) only reads."""
    if name in _ALWAYS:
        return True
    if len(call) == 1 and call[0].text in ("--version", "--help"):
        return True
    rule = _RULES.get(name)
    if rule is None or (rule is not _awk and any(w.splits for w in call)):
        return False
    return rule(call)


def followed(name: str, call: Call) -> bool:
    """Whether all is told once the program is named: no script of its own may do more."""
    if name in ("awk", "gawk", "mawk", "nawk"):
        return False
    if name != "sed":
        return True
    plain = [w for w in call if not w.shape.startswith(("-i", "--in-p"))]
    return len(plain) < len(call) and not any(w.splits for w in plain[:1]) and _sed(plain)


def _options(call: Call) -> list[str]:
    """The options before `--`, as they are written."""
    found: list[str] = []
    for word in call:
        if word.shape == "--":
            break
        if word.shape.startswith("-") and word.shape != "-":
            found.append(word.shape)
    return found


def _operands(call: Call) -> list[str]:
    shapes = [word.shape for word in call]
    rest = shapes[shapes.index("--") + 1 :] if "--" in shapes else []
    first = shapes[: shapes.index("--")] if "--" in shapes else shapes
    return [s for s in first if not s.startswith("-") or s == "-"] + rest


def _without(letters: str, *long: str) -> Callable[[Call], bool]:
    """Only calls without these options. Long ones may be shortened."""

    def rule(call: Call) -> bool:
        for option in _options(call):
            if option.startswith("--"):
                name = option.partition("=")[0]
                if any(each.startswith(name) or name.startswith(each) for each in long):
                    return False
            elif set(option[1:]) & set(letters):
                return False
        return True

    return rule


def _needs(letters: str, *long: str) -> Callable[[Call], bool]:
    """Only calls with one of these options."""

    def rule(call: Call) -> bool:
        found = _options(call)
        short = (o for o in found if not o.startswith("--"))
        return any(o.partition("=")[0] in long for o in found) or any(
            set(o[1:]) & set(letters) for o in short
        )

    return rule


def _few(most: int) -> Callable[[Call], bool]:
    """At most so many words that are no options: a further one is written to, or set."""
    return lambda call: len(_operands(call)) <= most


def _first(words: frozenset[str], *unless: str) -> Callable[[Call], bool]:
    """Only these subcommands, without options that run or write something."""

    def rule(call: Call) -> bool:
        if not call or call[0].text not in words:
            return False
        return not any(o.startswith(each) for o in _options(call) for each in unless)

    return rule


def _both(*rules: Callable[[Call], bool]) -> Callable[[Call], bool]:
    return lambda call: all(rule(call) for rule in rules)


def _date(call: Call) -> bool:
    plain = _without("s", "--set")(call)
    values = {i + 1 for i, w in enumerate(call) if w.shape in ("-d", "-r", "-f", "--date")}
    rest = [w.shape for i, w in enumerate(call) if i not in values and w.shape[:1] != "-"]
    return plain and all(shape.startswith("+") for shape in rest)


def _ip(call: Call) -> bool:
    if any(o.startswith("-b") and not o.startswith("-br") for o in _options(call)):
        return False  # a file of commands
    rest = [s for s in _operands(call) if HOLE not in s]
    return len(rest) <= 1 or rest[1] in ("show", "list", "sh", "ls", "get")


def _tar(call: Call) -> bool:
    first = call[0].shape if call else ""
    if any(o.startswith(("--to-c", "--use-c", "--checkpoint", "-I")) for o in _options(call)):
        return False
    short = [o for o in _options(call) if not o.startswith("--")]
    modes = "".join(short) + ("" if first.startswith("-") else first)
    lists = "t" in modes.partition("f")[0] or "--list" in _options(call)
    return lists and not set(modes.partition("f")[0]) & set("cxruAdFI")


def _awk(call: Call) -> bool:
    """The program's own text: it may run commands, and write to files."""
    rest = list(call)
    while rest and rest[0].shape.startswith("-"):
        option = rest.pop(0).shape
        if option in ("-F", "-v") and rest:
            rest.pop(0)
        elif option == "--":
            break
        elif not option.startswith(("-F", "-v")):
            return False
    return bool(rest) and not rest[0].splits and _awk_reads(rest[0].shape)


def _awk_reads(program: str) -> bool:
    text = re.sub(r'>+\s*"/dev/(?:stderr|stdout|null)"', "", program)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    text = re.sub(r"(^|[~(,!{;&|]|\n)(\s*)/(?:[^/\\\n]|\\.)*/", r"\1\2", text)
    text = text.replace("||", "")
    prints = any(
        ">" in part[found.end() :]
        for part in re.split(r"[;}\n]", text)
        if (found := re.search(r"\bprintf?\b", part))
    )
    return not (prints or "|" in text or re.search(r"\bsystem\b|@|\bgetline\s*<\s*\0", text))


def _json(call: Call) -> bool:
    """`python -m json.tool [FILE]` prints."""
    return [w.shape for w in call[:2]] == ["-m", "json.tool"] and len(call) <= 3


_SED_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?|\0)"
_SED_ONE = re.compile(
    rf"\s*(?:{_SED_ADDRESS}(?:\s*,\s*[+~]?{_SED_ADDRESS})?)?\s*!?\s*\{{?\s*"
    r"(?:s(?P<d>[^\w\s\\;\0])(?:(?!(?P=d))[^\\\n]|\\.|\\\n)*(?P=d)(?:(?!(?P=d))[^\\]|\\[\s\S])*(?P=d)"
    r"[gpiIm0-9]*|y(?P<e>[^\w\s\\;\0])(?:(?!(?P=e))[^\\\n]|\\.)*(?P=e)(?:(?!(?P=e))[^\\\n]|\\.)*(?P=e)"
    r"|[pdPDnNgGhHxlq=]\d*|[qQ]\d*|[btT]\s*\w*|:\s*\w+|#[^\n]*)?\s*\}?\s*(?:;|\n|\Z)"
)


def _sed(call: Call) -> bool:
    """The script's own text: it may write files and run commands."""
    scripts: list[str] = []
    rest = list(call)
    plain: list[str] = []
    while rest:
        word = rest.pop(0).shape
        if word in ("-e", "--expression") and rest:
            scripts.append(rest.pop(0).shape)
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif re.fullmatch(r"-[nErzus]*e", word) and rest:
            scripts.append(rest.pop(0).shape)
        elif re.fullmatch(r"-[nErzus]+|--(?:quiet|silent|regexp-extended|null-data)", word):
            continue
        elif word.startswith("-") and word != "-":
            return False
        else:
            plain.append(word)
    if not scripts:
        scripts = plain[:1]
    return bool(scripts) and all(_sed_reads(script) for script in scripts)


def _sed_reads(script: str) -> bool:
    at = 0
    while at < len(script):
        found = _SED_ONE.match(script, at)
        if not found or found.end() == at:
            return False
        at = found.end()
    return True


_RULES: Mapping[str, Callable[[Call], bool]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "sed": _sed,
    "date": _date,
    "tar": _tar,
    "ip": _ip,
    "sort": _without("oT", "--output", "--compress-program", "--temporary-directory"),
    "shuf": _without("o", "--output"),
    "iconv": _without("o", "--output"),
    "yq": _without("i", "--inplace"),
    "tree": _without("o"),
    "file": _without("C", "--compile"),
    "ss": _without("rK", "--resolve", "--kill"),
    "dmesg": _without("cCnDE", "--clear", "--read-clear", "--console-level", "--console-"),
    "lsof": _needs("n"),
    "netstat": _needs("n"),
    "hostname": _both(_few(0), _without("FbfdiIAay", "--fqdn", "--domain", "--file", "--ip")),
    "env": _few(0),
    "mount": _both(_few(0), _without("a", "--all")),
    "uniq": _few(1),
    "xxd": _both(_few(1), _without("r")),
    "top": _needs("b"),
    "gzip": _needs("ltc", "--list", "--test", "--stdout"),
    "gunzip": _needs("ltc", "--list", "--test", "--stdout"),
    "bzip2": _needs("tc", "--test", "--stdout"),
    "xz": _needs("ltc", "--list", "--test", "--stdout"),
    "unzip": _needs("lZtpv"),
    "crontab": _both(_needs("l"), _without("re")),
    "sysctl": _both(
        _without("wp", "--write", "--load", "--system"),
        lambda call: not any("=" in s for s in _operands(call)),
    ),
    "journalctl": _without(
        "",
        "--vacuum",
        "--rotate",
        "--flush",
        "--sync",
        "--relinquish",
        "--update",
        "--setup",
        "--cursor-file",
    ),
    "git": _first(_GIT, "--output", "--ext-diff", "--textconv", "--filters", "-O"),
    "systemctl": _first(_SYSTEMCTL, "-H", "--host", "-M", "--machine"),
    "dpkg": _needs("lLsS", "--list", "--listfiles", "--status", "--search"),
    "dpkg-query": lambda call: True,
    "rpm": lambda call: bool(call) and call[0].shape.startswith(("-q", "--query")),
    **dict.fromkeys(("python", "python3"), _json),
    "getent": _first(frozenset(("passwd", "group", "services", "protocols", "shadow"))),
}
