"""Another spelling of a command never turns it into a read.

Over every example of every table: quoting, spacing, paths, clusters and order of options, wrappers
and further stages.
"""

import re
import shlex

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pulsus.commands.call_check.judge import TRUSTED
from pulsus.commands.program_tables.option_parser import Parser, Unlisted
from pulsus.commands.shell.words import Word
from tests import example_counts
from tests.command_examples import CONTEXT, examples, plain, verdict

FEW = settings(
    max_examples=example_counts.examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# Read when first drawn from: a worker that runs other tests needs none of the tables.
ANY = st.deferred(lambda: st.sampled_from(examples()))
PLAIN = st.deferred(lambda: st.sampled_from(plain()))
UNLISTED = ("--pulsus-unlisted", "--pulsus-unlisted=x")


def single(text):
    return "'" + text.replace("'", "'\\''") + "'"


def double(text):
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'


def escaped(text):
    return re.sub(r"([^A-Za-z0-9_./=,:@%+-])", r"\\\1", text) if "\n" not in text else single(text)


def halves(text):
    half = len(text) // 2
    return single(text[:half]) + double(text[half:])


QUOTES = (shlex.quote, single, double, escaped, halves)


@st.composite
def spelt(draw, words):
    """The same words, quoted and spaced in other ways."""
    blanks = st.sampled_from((" ", "  ", "\t", " \t ", " \\\n"))
    shown = [draw(st.sampled_from(QUOTES))(word) or "''" for word in words]
    return (
        draw(st.sampled_from(("", " ", "\n")))
        + "".join(word + draw(blanks) for word in shown[:-1])
        + shown[-1]
    )


@pytest.mark.seconds
@FEW
@given(PLAIN, st.data())
def test_quotes_and_blanks_change_nothing(found, data):
    command, words = found
    other = data.draw(spelt(words))
    if "~" in command or words[0] in {"[", "time"}:
        assume(not verdict(command).allow)
        assert not verdict(other).allow
    else:
        assert verdict(other).allow == verdict(command).allow, other


@pytest.mark.seconds
@FEW
@given(PLAIN, st.sampled_from(sorted(TRUSTED)))
def test_a_trusted_folder_before_the_program_changes_nothing(found, folder):
    _, words = found
    assume("/" not in words[0])
    other = shlex.join([f"{folder}/{words[0]}", *words[1:]])
    assert verdict(other).allow == verdict(shlex.join(words)).allow, other


@FEW
@given(
    PLAIN, st.sampled_from(("./", "/tmp/", "../bin/", "~/bin/", "/usr/bin/../../tmp/", "//bin/"))
)
def test_no_program_of_another_folder_is_allowed(found, folder):
    _, words = found
    assume("/" not in words[0])
    other = f"{folder}{words[0]} {shlex.join(words[1:])}"
    assert not verdict(other).allow, other


@FEW
@given(
    ANY,
    st.sampled_from(
        (
            "{} | cat",
            "{} | grep x",
            "{}; ls",
            "{} && ls",
            "{} || true",
            "! {}",
            "{{ {}; }}",
            "({})",
            "{} 2>/dev/null",
            "ls; {}",
            "cat a | {}",
        )
    ),
)
def test_other_commands_beside_it_never_make_a_command_a_read(command, around):
    assume(
        "\n" not in command and not verdict(command).allow and not command.rstrip().endswith("\\")
    )
    assert not verdict(around.format(command)).allow


@FEW
@given(
    PLAIN,
    st.sampled_from(
        (
            "nice",
            "nice -n 5",
            "env",
            "env LC_ALL=C",
            "command",
            "nohup",
            "stdbuf -oL",
            "ionice -c 3",
            "ssh host",
            "time",
            "xargs",
            "sudo",
            "busybox",
        )
    ),
)
def test_no_wrapper_turns_a_command_into_a_read(found, wrapper):
    command, words = found
    assume(not verdict(command).allow and command == shlex.join(words))
    # The shell behind ssh reads the words anew, without their quotes.
    assume(wrapper != "ssh host" or command == " ".join(words))
    assert not verdict(f"{wrapper} {command}").allow


@FEW
@given(PLAIN)
def test_a_timeout_turns_only_endless_commands_into_reads(found):
    command, words = found
    said = verdict(command)
    assume(not said.allow)
    if verdict(f"timeout 5 {shlex.join(words)}").allow:
        assert said.category == "unbounded_stream"


@FEW
@given(PLAIN, st.sampled_from(UNLISTED), st.data())
def test_no_unlisted_option_is_a_read(found, option, data):
    _, words = found
    assume(not verdict(shlex.join(words)).allow)
    place = data.draw(st.integers(1, len(words)))
    other = shlex.join([*words[:place], option, *words[place:]])
    if verdict(other).allow:
        # It may be the value that an option lacked, or text that a program prints; clouds have
        # thousands of options, none of which does what its operation's name does not say.
        lacked = place == len(words) or words[place - 1].startswith("-")
        assert lacked or _text(words[0]) or _cloud(words[0]), other


@FEW
@given(PLAIN, st.sampled_from(UNLISTED))
def test_an_unlisted_option_after_the_program_is_refused(found, option):
    _, words = found
    program = words[0].rpartition("/")[2]
    assume(not _text(program) and program != "[")
    other = shlex.join([words[0], option, *words[1:]])
    assert not verdict(other).allow, other


def _cloud(program):
    node = CONTEXT.tables.get(program)
    return node is not None and any(k.name == "cloud" for form in node.forms for k in form.kinds)


def _text(program):
    """Return True if every word after it may be text."""
    node = CONTEXT.tables.get(program)
    return node is not None and node.style == "words"


def _regrouped(words):
    """Return the options with their values, and the operands; None if that is not clear."""
    node = CONTEXT.tables.get(words[0])
    if node is None or node.style != "gnu" or node.subcommands or node.never or node.plus:
        return None
    parser = Parser(node, {}, stop_at_first=False)
    try:
        parsed = parser.parse([Word(word) for word in words[1:]])
    except Unlisted:
        return None
    if any(word.lstrip("-").isdigit() for word in words[1:] if word.startswith("-")):
        return None
    groups = []
    for each in parsed.given:
        values = [value.text for value in each.values]
        if not values:
            groups.append([each.name])
        elif each.option.takes == "attached":
            sign = "=" if each.name.startswith("--") else ""
            groups.append([f"{each.name}{sign}{values[0]}"])
        else:
            groups.append([each.name, *values])
    return groups, [word.text for word in parsed.operands]


def _grouped():
    found = ((words, _regrouped(words)) for _, words in plain())
    return st.sampled_from([(words, groups) for words, groups in found if groups is not None])


@pytest.mark.seconds
@FEW
@given(st.deferred(_grouped), st.data())
def test_clusters_and_order_of_options_change_nothing(found, data):
    words, (groups, operands) = found
    drawn = data.draw(st.permutations(groups))
    # The order of an option's own repeats has a meaning: the parts of a sed script.
    repeats: dict[str, list[list[str]]] = {}
    for group in groups:
        repeats.setdefault(group[0], []).append(group)
    mixed = [word for group in drawn for word in repeats[group[0]].pop(0)]
    other = shlex.join([words[0], *mixed, "--", *operands])
    assert verdict(other).allow == verdict(shlex.join(words)).allow, other


@FEW
@given(PLAIN, st.sampled_from("\u2013\u2212\uff0d\u2010"))
def test_no_lookalike_of_a_dash_makes_a_read(found, dash):
    _, words = found
    assume(not verdict(shlex.join(words)).allow)
    assume(any(word.startswith("-") for word in words[1:]))
    other = [dash + word[1:] if word.startswith("-") else word for word in words]
    assert not verdict(shlex.join(other)).allow, other
