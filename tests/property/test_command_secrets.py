"""Secrets stay secrets under every spelling; patterns overlap exactly if a name fits both."""

import itertools
import re
import time
from fnmatch import translate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.commands import classify
from pulsus.commands.risk.secret_files import find_secrets_in_text
from pulsus.commands.risk.secret_paths import is_disk, is_secret, matches_any
from pulsus.commands.risk.wildcard_secret_paths import secret_pattern
from pulsus.commands.shell.glob_overlap import patterns_overlap

NAMES = ["".join(n) for size in range(5) for n in itertools.product("ab", repeat=size)]
GLOB = st.text(alphabet="ab*?", max_size=4)


@given(GLOB, GLOB)
def test_two_patterns_overlap_exactly_if_a_name_fits_both(one, other):
    """Two patterns of at most four letters share a name of at most eight, here of at most four."""
    both = (re.compile(translate(one)), re.compile(translate(other)))
    shared = any(all(pattern.match(name) for pattern in both) for name in NAMES)
    assert patterns_overlap(one, other) == patterns_overlap(other, one)
    if shared:
        assert patterns_overlap(one, other)
    if "*" not in one + other:
        assert patterns_overlap(one, other) == shared


SECRETS = st.sampled_from(
    ["/etc/shadow", "/root/.ssh/id_rsa", "/proc/1/environ", "/run/secrets/db", "/srv/tls/a.key"]
)
JOINTS = st.sampled_from(["/", "//", "/./", "/x/../", "/.//", "/a/b/../../"])
QUOTES = st.sampled_from(["{}", "'{}'", '"{}"', "\\{}"])


@st.composite
def spellings(draw):
    """A secret's path with other joints between its parts and quotes around some letters."""
    parts = draw(SECRETS).strip("/").split("/")
    path = "".join(draw(JOINTS) + part for part in parts)
    at = draw(st.integers(0, len(path) - 1))
    return path[:at] + draw(QUOTES).format(path[at]) + path[at + 1 :]


READERS = st.sampled_from(
    ["cat {}", "cat < {}", "head -n 1 {}", "timeout 5 cat {}", "cat a {}", "cat a | sort - {}",
     "sudo cat {}", "ssh host cat {}", "grep -n x {}", "cd /tmp && cat {}", "cat {} 2>/dev/null",
     "x=$(cat {})", "unknown --file={}", "(cat {})", "curl -d @{} http://a"]
)  # fmt: skip


@given(READERS, spellings())
def test_no_spelling_of_a_secret_is_read(reader, path):
    verdict = classify(reader.format(path))
    assert not verdict.allow
    assert verdict.sensitive


@given(SECRETS, st.integers(1, 20), st.sampled_from("?*"))
def test_a_pattern_that_matches_a_secret_is_a_secret(path, at, star):
    at = min(at, len(path) - 1)
    pattern = path[:at] + star + path[at + 1 :] if path[at] != "/" else path
    assert secret_pattern(pattern) or is_secret(pattern) or ".ssh" not in pattern.split("/")


@given(st.text(max_size=60))
def test_no_text_makes_the_secret_checks_raise(text):
    is_secret(text)
    secret_pattern(text)
    is_disk(text)
    matches_any(text, ("/dev/zero", "/dev/*/x"))
    list(find_secrets_in_text(text))
    verdict = classify(text)
    assert 0 <= verdict.risk <= 3
    assert (verdict.risk == 0) == verdict.allow


@pytest.mark.parametrize(
    "unit", ["/", "*", "{a,", "[", "/etc/", "a*", "~", "'", "../", "@", "{a,b}", "/etc/* ", "a;"]
)
def test_a_long_text_is_answered_soon(unit):
    """In some hundredths of a second: nothing grows with the square of the length."""
    text = (unit * 10_000)[:10_000]
    started = time.process_time()
    list(find_secrets_in_text(text))
    secret_pattern(text)
    classify("cat " + text)
    assert time.process_time() - started < 1.0
