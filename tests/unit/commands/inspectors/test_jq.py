"""A jq or yq program is a read only if it ends and shows no secrets of the environment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.commands.classify import examine
from pulsus.commands.inspectors.jq.jq import jq, yq
from pulsus.commands.judge_context import JudgeContext

READS = [
    ".",
    ".a.b[0]",
    ".[]",
    ".a?",
    ".[1:3]",
    '."a b"',
    ".env",
    ".import.include",
    '.["env"]',
    "{env: .a, b: 1, include}",
    "{a, env}",
    "env.HOME",
    "$ENV.PATH",
    ".. | numbers",
    ".[] | select(.a > 1 and (.b | not))",
    '.[] | "\\(.a): \\(.b | tostring)"',
    '"\\("\\(.a)")"',
    "map(select(.x == 1)) | length",
    "to_entries[] | [.key, .value] | @tsv",
    "group_by(.a) | map({a: .[0].a, n: length})",
    "reduce .[] as $x (0; . + $x)",
    "foreach .[] as [$a, $b] (0; . + $a; .)",
    "if .a then .b elif .c then .d else empty end",
    'try error("x") catch .',
    ".a //= 1 | .b |= . + 1 | .c += 2",
    ".a as {b: $x} ?// [$x] | $x",
    "def f(x): x * 2; f(.a)",
    "def f: def g: 1; g; f",
    "recurse",
    "recurse(.children[])",
    "recurse(.[]?)",
    "limit(3; .[])",
    "first(range(10))",
    "[range(0; 10; 2)]",
    "range(length)",
    'gsub("a"; "b")',
    'gsub("\\\\s+$"; "")',
    'test("x"; "i")',
    "[inputs | .a] | add",
    "input_filename",
    "debug | halt",
    "# env\n.a",
    ".a[-1:] | @base64d | fromjson",
    "del(.a, .b[0]) | with_entries(.value += 1)",
    "label $out | .[] | if . == 1 then break $out else . end",
    "$__loc__",
    'now | strftime("%F")',
    "tojson | @sh",
    '@json "x\\(.a)"',
    "path(..)",
    'walk(if type == "object" then del(.a) else . end)',
    'limit(5; .[] | select(.a)) | splits(", *")',
]

REFUSED = [
    "env",
    "$ENV",
    "$ ENV",
    "env | keys",
    'env["PATH"]',
    "env.API_KEY",
    "$ENV.GITHUB_TOKEN",
    "$ENV | .HOME",
    "[env]",
    "{a: env}",
    "{(env | keys[0]): 1}",
    "{$ENV}",
    '"\\(env)"',
    '"a\\("b\\(env)")"',
    '@base64 "\\($ENV)"',
    'import "a" as a; .',
    'include "a"; .',
    'import "a" as $x; $x',
    '"a" | modulemeta',
    ".a | frobnicate",
    "a::b",
    '.a\n# x \\\n"\nenv # "',
    '"',
    '"\\(',
    "(",
    "]",
    "{(}",
    "'x'",
    "\\",
    ".a\r",
]

NEED_NOT_END = [
    "repeat(1)",
    "limit(1; repeat(empty | error))",
    "while(true; .)",
    "until(false; .)",
    "recurse(.)",
    "recurse(.a)",
    "recurse(. + 1; . < 3)",
    "range(infinite)",
    "range(0; infinite)",
    "range(1e18)",
    "range(0; 999999999999)",
    "range(0; 1; 0)",
    "range(0; 1; $x)",
    "def f: f; f",
    "def f(x): def g: f(x); g; f(1)",
    "def r: ., (. + 1 | r); r",
    'gsub("";"a")',
    'gsub("^";"a")',
    'gsub("x*";"a")',
]

GROW = [
    'reduce range(60) as $i ("a"; tostring + tostring)',
    'reduce range(60) as $i ("a"; ascii_downcase + ascii_upcase)',
    'reduce range(60) as $i ("a"; explode + explode | implode)',
    "reduce range(60) as $i ([1, 2]; [combinations(2)?])",
    "[range(100)] | [., ., ., ., ., ., ., .] | combinations",
    '"x" * 1e10',
    '"x" * 1000000 * 1000000',
    ". * 1e10",
    '"x" * now',
    '"x" * infinite',
    '"x" * (1e9 | floor)',
    '"x" * $n',
    "1e9 as $n | .a * $n",
    '1000000 as $n | "x" | . * $n * $n',
    '"\\("x" * 1e9)"',
    ".[1e9] = 1",
    "[][536870911] |= 1",
    "setpath([1e9]; 1)",
    "range(10000) | range(10000) | range(10000)",
    "[1, 2] | combinations(100)",
    'reduce range(60) as $i ("x"; . + .)',
    'reduce range(60) as $i ("x"; . as $a | $a + $a)',
    'reduce range(60) as $i ("x"; . + . as $a | $a)',
    'reduce range(60) as $i ("x"; "\\(.)\\(.)")',
    "reduce range(60) as $i ([1]; [.[], .[]])",
    "reduce range(60) as $i ([1]; . as [$a] | [$a + $a])",
    'reduce range(60) as $i ({a: "x"}; .a += .a)',
    'reduce range(60) as $i ("x"; gsub("x"; "xx"))',
    'reduce range(60) as $i ("x"; tojson)',
    'reduce range(60) as $i ("x"; . * 2)',
    "foreach range(60) as $i ([1]; [., .]; 1)",
    '"x"' + " | . + ." * 40,
    '"x"' + " | tojson" * 40,
    '"x"' + ' | gsub("x"; "xx")' * 40,
    'def f: . + .; "x"' + " | f" * 40,
    'def f: def g: . + .; g | g | g; "x"' + " | f" * 11,
]

STAY = [
    ".price * .qty | floor",
    "now * 1000000000",
    "(.a - .b) * 1000000000",
    ".[] | select(.size > 1000000000) | .cpu * 100",
    ".a = 5000000000 | .b[100] = 1",
    "reduce .[] as $x (0; if . > $x then . else $x end)",
    "reduce .[] as $x ({}; .[$x.k] = (.[$x.k] // 0) + 1)",
    "reduce .[] as $x ({n: 0, s: 0}; .n += 1 | .s += $x)",
    "foreach .[] as $x (0; . + $x; [$x, .])",
    'gsub("a"; "b") | gsub("c"; "d")',
    '.[] | "\\(.a) \\(.b) \\(.a)"',
    "[., .] | add",
    'reduce .[] as $x (""; . + ($x | tostring) + ",")',
    'to_entries | map(.key + "=" + (.value | tostring))',
]

YQ = [
    (".a-b", False),
    (".a.b", True),
    ("path/to/file.yaml", True),
    ('.. | select(tag == "!!str") | downcase', True),
    ('load("x")', False),
    ('load_str("x")', False),
    ("eval(.a)", False),
    ('system("id")', False),
    ("strenv(HOME)", False),
    ("envsubst", False),
    ("env(HOME)", False),
    ('.a |= with_dtf("x"; now)', True),
]


def test_a_filter_is_a_read():
    found = {program: jq((program,), "") for program in READS}
    refused = {p: each.rule for p, each in found.items() if not each.reads or each.category}
    assert refused == {}


@pytest.mark.parametrize("program", REFUSED)
def test_a_filter_that_reaches_beyond_its_input_is_refused(program):
    assert not jq((program,), "").reads


@pytest.mark.parametrize("program", NEED_NOT_END)
def test_a_filter_that_may_go_on_is_a_stream(program):
    assert jq((program,), "").category == "unbounded_stream"


@pytest.mark.parametrize("program", GROW)
def test_a_short_program_does_not_fill_the_memory(program):
    assert jq((program,), "").category == "unbounded_stream"


@pytest.mark.parametrize("program", STAY)
def test_arithmetic_and_sums_stay_reads(program):
    found = jq((program,), "")
    assert found.reads, found.rule
    assert found.category is None, found.rule


@pytest.mark.parametrize(("program", "reads"), YQ)
def test_what_either_yq_reaches_by_is_refused(program, reads):
    assert yq((program,), "").reads is reads


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("jq -rc --arg a b '.[$a]' f.json", True),
        ("jq . f.json g.json -S", True),
        ("jq --arg a '.' env", False),
        ("jq -n --arg x y -f f", False),
        ("jq --slurpfile a /etc/shadow .", False),
        ("jq --arg a *", False),
        ("timeout 2 jq -n 'repeat(1)'", True),
        ("yq -yi .a f", False),
        ("yq eval '.a' -i=true f", False),
        ("yq -o yaml .a f", True),
    ],
)
def test_the_options_of_both_are_known(command, read):
    assert examine(command, JudgeContext()).deciding.is_read is read


@given(st.text())
def test_no_text_makes_it_raise(program):
    jq((program,), "")
    yq((program,), "")


_PIECES = [
    *'(){}[]";:,.|#\\ \n$@?',
    *("def", "env", "reduce", "recurse(", "range(", "1", "x", "\\(", "as", "gsub("),
]


@given(st.lists(st.sampled_from(_PIECES)))
def test_no_mixture_of_its_words_makes_it_raise(words):
    jq(("".join(words),), "")
