"""A right answer to each request of generation_requests.jsonl: its checks are made with these.

The results in the file are what these functions give, and a test holds the two together.
`python -m tests.benchmarks.generation_reference` writes the file anew.
"""

import csv
import json
import math
import re
import statistics
from collections import Counter
from datetime import date
from pathlib import Path

FILE = Path(__file__).with_name("generation_requests.jsonl")
FOLDER = "/tmp/pulsus"


def vowels(text):
    return {"vowels": sum(c in "aeiou" for c in text.lower())}


def words(text):
    return {"words": len(text.split())}


def reversed_words(text):
    return {"text": " ".join(reversed(text.split()))}


def human_bytes(number):
    power = next((p for p in (3, 2, 1) if number >= 1024**p), 0)
    unit = ("B", "KiB", "MiB", "GiB")[power]
    return {"text": f"{number / 1024**power:.1f} {unit}" if power else f"{number} B"}


def duration(text):
    sizes = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    return {"seconds": sum(int(n) * sizes[u] for n, u in re.findall(r"(\d+)([dhms])", text))}


def clock(seconds):
    return {"text": f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"}


def median(numbers):
    return {"median": statistics.median(numbers)}


def percentile(numbers, percent):
    return {"value": sorted(numbers)[max(0, math.ceil(percent / 100 * len(numbers)) - 1)]}


def most_common(items, n):
    ordered = sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0]))
    return {"items": [name for name, _ in ordered[:n]]}


def unique(items):
    return {"items": list(dict.fromkeys(items))}


def totals(rows, by, field):
    found: dict = {}
    for row in rows:
        found[row[by]] = found.get(row[by], 0) + row[field]
    return {"totals": found}


def above(rows, field, limit):
    return {"rows": [row for row in rows if row[field] > limit]}


def address_number(address):
    number = 0
    for part in address.split("."):
        number = number * 256 + int(part)
    return {"number": number}


def prefix_length(netmask):
    return {"prefix": sum(bin(int(part)).count("1") for part in netmask.split("."))}


def compare_versions(first, second):
    a, b = ([int(p) for p in v.split(".")] for v in (first, second))
    size = max(len(a), len(b))
    a, b = a + [0] * (size - len(a)), b + [0] * (size - len(b))
    return {"order": (a > b) - (a < b)}


def key_values(text):
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    return {"values": {key.strip(): value.strip() for key, value in pairs}}


def changed_keys(before, after):
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(k for k in before.keys() & after.keys() if before[k] != after[k]),
    }


def log_levels(text):
    return {"levels": dict(Counter(re.findall(r"\b(DEBUG|INFO|WARNING|ERROR)\b", text)))}


def file_lines(path):
    return {"lines": len(Path(path).read_text("utf-8").splitlines())}


def column_total(path, column):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return {"total": sum(float(row[column]) for row in csv.DictReader(file))}


def json_keys(path):
    return {"keys": sorted(json.loads(Path(path).read_text("utf-8")))}


def longest_line(path):
    line = max(Path(path).read_text("utf-8").splitlines(), key=len)
    return {"line": line, "length": len(line)}


def lines_with(path, word):
    lines = Path(path).read_text("utf-8").splitlines()
    return {"numbers": [n for n, line in enumerate(lines, start=1) if word in line]}


def slug(title):
    return {"slug": re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")}


def roman(number):
    text = ""
    pairs = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")]
    for value, sign in [*pairs, (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        text += sign * (number // value)
        number %= value
    return {"roman": text}


def weekday(day):
    return {"weekday": date.fromisoformat(day).strftime("%A")}


def days_between(first, second):
    return {"days": abs((date.fromisoformat(second) - date.fromisoformat(first)).days)}


def chunks(items, size):
    return {"chunks": [items[n : n + size] for n in range(0, len(items), size)]}


def moving_average(numbers, window):
    spans = [numbers[n : n + window] for n in range(len(numbers) - window + 1)]
    return {"averages": [sum(span) / window for span in spans]}


def masked_email(address):
    user, _, host = address.partition("@")
    return {"masked": f"{user[0]}***@{host}"}


def at(name, text):
    """A file of that name in the folder of the checks."""
    return {f"{FOLDER}/{name}": text}


LOG = "12:00 INFO up\n12:01 ERROR disk full\n12:02 ERROR disk full\n12:03 WARNING hot\n"
ROWS = [{"host": "a", "mb": 5}, {"host": "b", "mb": 7}, {"host": "a", "mb": 3}]
SALES = "host,mb\na,1.5\nb,2\nc,4\n"
TEXT = "one\nthree is longer\ntwo and\n"

# Request, function, inputs of the checks: the last is held back from the model.
REQUESTS = [
    (
        "count the vowels of a text",
        vowels,
        [{"text": "Echo"}, {"text": "rhythm"}, {"text": "AEIOU x"}],
    ),
    (
        "count the words of a text",
        words,
        [{"text": "a b c"}, {"text": ""}, {"text": " two  words\n"}],
    ),
    (
        "put the words of a text in reverse order",
        reversed_words,
        [{"text": "a b c"}, {"text": "one"}, {"text": "first  second"}],
    ),
    (
        "write a number of bytes for people, in B, KiB, MiB or GiB; one decimal from KiB on",
        human_bytes,
        [{"number": 512}, {"number": 1536}, {"number": 5 * 1024**2}, {"number": 3 * 1024**3}],
    ),
    (
        "turn a duration such as 1h30m into seconds; units are d, h, m and s",
        duration,
        [{"text": "1h30m"}, {"text": "45s"}, {"text": "2d4h"}],
    ),
    (
        "write a number of seconds as hours, minutes and seconds, such as 1:02:03",
        clock,
        [{"seconds": 3723}, {"seconds": 59}, {"seconds": 36000}],
    ),
    (
        "give the median of a list of numbers",
        median,
        [{"numbers": [3, 1, 2]}, {"numbers": [4, 1, 2, 3]}, {"numbers": [10]}],
    ),
    (
        "give the nearest-rank percentile of a list of numbers",
        percentile,
        [
            {"numbers": [15, 20, 35, 40, 50], "percent": 30},
            {"numbers": [15, 20, 35, 40, 50], "percent": 100},
            {"numbers": [7, 1, 9], "percent": 50},
        ],
    ),
    (
        "list the n most common items of a list; equally common ones in alphabetical order",
        most_common,
        [
            {"items": ["b", "a", "b"], "n": 1},
            {"items": ["b", "a"], "n": 2},
            {"items": ["z", "y", "z", "y", "x"], "n": 2},
        ],
    ),
    (
        "remove duplicates from a list and keep the order",
        unique,
        [{"items": ["b", "a", "b"]}, {"items": []}, {"items": ["x", "x", "y", "x"]}],
    ),
    (
        "sum a field of rows for each value of another field",
        totals,
        [
            {"rows": ROWS, "by": "host", "field": "mb"},
            {"rows": [], "by": "host", "field": "mb"},
            {"rows": [{"k": "x", "n": 1}, {"k": "x", "n": 2}], "by": "k", "field": "n"},
        ],
    ),
    (
        "keep the rows whose field is above a limit",
        above,
        [
            {"rows": ROWS, "field": "mb", "limit": 4},
            {"rows": ROWS, "field": "mb", "limit": 7},
            {"rows": [{"n": 2}, {"n": 1}], "field": "n", "limit": 1},
        ],
    ),
    (
        "turn an IPv4 address into its number",
        address_number,
        [{"address": "0.0.1.0"}, {"address": "10.0.0.1"}, {"address": "255.255.255.255"}],
    ),
    (
        "turn an IPv4 netmask into its prefix length",
        prefix_length,
        [{"netmask": "255.255.255.0"}, {"netmask": "255.255.240.0"}, {"netmask": "0.0.0.0"}],
    ),
    (
        "compare two dotted version numbers: 1 where the first is newer, -1 where older, else 0",
        compare_versions,
        [
            {"first": "1.10.0", "second": "1.9"},
            {"first": "2.0", "second": "2.0.0"},
            {"first": "0.9.9", "second": "1.0"},
        ],
    ),
    (
        "read KEY=VALUE lines of a text into a mapping; skip empty lines and comments with #",
        key_values,
        [{"text": "A=1\n# no\nB = two\n"}, {"text": ""}, {"text": "X=a=b\n\n#Y=1\n"}],
    ),
    (
        "list the keys that were added, removed and changed between two mappings, sorted",
        changed_keys,
        [
            {"before": {"a": 1, "b": 2}, "after": {"b": 3, "c": 4}},
            {"before": {}, "after": {}},
            {"before": {"x": 1, "y": 1}, "after": {"x": 1}},
        ],
    ),
    (
        "count how often each level (DEBUG, INFO, WARNING, ERROR) stands in a log text",
        log_levels,
        [{"text": LOG}, {"text": "nothing here"}, {"text": "DEBUG a\nINFO b\nDEBUG c\n"}],
    ),
    (
        "count the lines of a text file",
        file_lines,
        [("a.txt", TEXT, {}), ("b.txt", "", {}), ("c.txt", "x\n\ny", {})],
    ),
    (
        "sum a column of a CSV file with a header",
        column_total,
        [
            ("a.csv", SALES, {"column": "mb"}),
            ("b.csv", "n,m\n1,2\n3,4\n", {"column": "n"}),
            ("c.csv", "n\n", {"column": "n"}),
        ],
    ),
    (
        "list the top-level keys of a JSON file, sorted",
        json_keys,
        [
            ("a.json", '{"b": 1, "a": {"c": 2}}', {}),
            ("b.json", "{}", {}),
            ("c.json", '{"z": 0}', {}),
        ],
    ),
    (
        "find the longest line of a text file and its length",
        longest_line,
        [("a.txt", TEXT, {}), ("b.txt", "ab\na\n", {}), ("c.txt", "same\nsize\n", {})],
    ),
    (
        "list the numbers of the lines of a file that hold a word; the first line is 1",
        lines_with,
        [
            ("a.log", LOG, {"word": "ERROR"}),
            ("b.log", LOG, {"word": "nobody"}),
            ("c.log", LOG, {"word": "12:00"}),
        ],
    ),
    (
        "turn a title into a slug: lower case, everything but letters and digits becomes one dash",
        slug,
        [{"title": "Hello, World!"}, {"title": "  A--b  "}, {"title": "Disk 2: full?"}],
    ),
    (
        "write a number in Roman numerals",
        roman,
        [{"number": 4}, {"number": 1994}, {"number": 3888}],
    ),
    (
        "give the English weekday of an ISO date",
        weekday,
        [{"day": "2024-02-29"}, {"day": "2026-01-04"}, {"day": "1999-12-31"}],
    ),
    (
        "count the days between two ISO dates, whichever comes first",
        days_between,
        [
            {"first": "2024-02-28", "second": "2024-03-01"},
            {"first": "2024-03-01", "second": "2024-02-01"},
            {"first": "2026-01-01", "second": "2026-01-01"},
        ],
    ),
    (
        "cut a list into chunks of a size; the last may be shorter",
        chunks,
        [
            {"items": [1, 2, 3], "size": 2},
            {"items": [], "size": 3},
            {"items": [1, 2, 3, 4], "size": 4},
        ],
    ),
    (
        "give the moving averages of a list of numbers over a window",
        moving_average,
        [
            {"numbers": [1, 2, 3, 4], "window": 2},
            {"numbers": [5, 7], "window": 2},
            {"numbers": [2, 4, 6], "window": 3},
        ],
    ),
    (
        "mask an email address: keep the first letter and the host, three stars between",
        masked_email,
        [
            {"address": "ann@example.org"},
            {"address": "b@example.test"},
            {"address": "carol.d@mail.example.org"},
        ],
    ),
]


def parts(case):
    """(inputs, files) of a check."""
    if isinstance(case, dict):
        return case, {}
    name, text, more = case
    return {"path": f"{FOLDER}/{name}", **more}, at(name, text)


def checks(function, cases, folder):
    """Return each check with its result, worked out with the files below `folder`."""
    for case in cases:
        inputs, files = parts(case)
        for path, text in files.items():
            here = folder / Path(path).name
            here.write_text(text, encoding="utf-8")
        own = {k: _here(v, files, folder) for k, v in inputs.items()}
        yield {
            "inputs": inputs,
            **({"files": files} if files else {}),
            "output": function(**own),
        }


def _here(value, files, folder):
    return str(folder / Path(value).name) if isinstance(value, str) and value in files else value


def rows(folder):
    """Return the rows of the file."""
    for request, function, cases in REQUESTS:
        made = list(checks(function, cases, folder))
        yield {"name": function.__name__, "request": request, "given": made[:-1], "held": made[-1:]}


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows(Path(folder))]
    FILE.write_text("".join(lines), encoding="utf-8")
