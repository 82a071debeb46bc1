"""Source that shows a reader other code than Python reads (spec §8)."""

import ast
import io
import tokenize

import pytest

from pulsus.core.validators.unicode import confusable_names, hidden_characters

PLAIN = "def run(text: str) -> str:\n    return text\n"


def _names(text):
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.NAME]


def _named(text):
    return confusable_names.find_confusable_name(_names(text), ast.parse(text))


@pytest.mark.parametrize(
    "char",
    [
        *("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1a", "\x1b", "\x1c", "\x1d", "\x1e"),
        *("\x7f", "\u00ad", "\u034f", "\u061c", "\u115f", "\u17b4", "\u180b", "\u180e", "\u200b"),
        *("\u200c", "\u200d", "\u200e", "\u202e", "\u2060", "\u2066", "\u206a", "\u2800"),
        *("\u3164", "\ufe00", "\ufe0f", "\ufeff", "\uffa0", "\ufff9", "\ufffb", "\ue000"),
        *("\U0001bca0", "\U0001d173", "\U000e0001", "\U000e0041", "\U000e0100", "\U000f0000"),
        *("\ufdd0", "\uffff", "\U0001fffe"),
    ],
    ids=lambda char: f"U+{ord(char):04X}",
)
def test_hidden_characters_are_refused_in_strings_and_comments(char):
    for where in ("# a{}b", 'X = "a{}b"', '"""A{}b."""'):
        said = hidden_characters.find_hidden_character(PLAIN + where.format(char) + "\n")
        assert said.startswith("line 3: "), where
        assert f"U+{ord(char):04X}" in said, where


@pytest.mark.parametrize(
    "text",
    [
        "# Größe der Straße, 5 €, „zitiert“, ‚so‘ – fertig…",
        "# Où est passé l’élève ? « Là-bas », dit-il\u202f; œuvre, ça",
        '"磁盘使用率：超过阈值（％）、请检查。\u3000完毕"',
        '"ディスク使用量・メモリ〜「注意」"',
        '"저장소 사용량"',
        '"Диск почти заполнен: 95 %"',
        '"Δίσκος: σφάλμα"',
        '"می\u200cخواهم"',
        '"क्\u200dष"',
        '"⚠\ufe0f 👍🏽 👩\u200d💻 1\ufe0f\u20e3 ❤\ufe0f ↔\ufe0f"',
        '"°C µs ½ ² ™ → ≤ ∑ \u00a0 x"',
        'r"\\u200b \\x0c"',
        "x = 1\t# tab",
    ],
)
def test_honest_text_in_any_language_is_accepted(text):
    assert hidden_characters.find_hidden_character(f"{PLAIN}X = 1\r\n{text}\n") == ""


def test_code_far_to_the_right_is_refused():
    assert "line 3" in hidden_characters.find_hidden_character(
        PLAIN + "x = 1;" + " " * 150 + "import os\n"
    )
    assert hidden_characters.find_hidden_character(PLAIN + "    " * 30 + "# deep\n") == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def sanitize(t): ...\ndef s\u0430nitize(t): ...\n", "sanitize"),
        ("def f(t):\n    return f'{s\u0430nitize(t)}'\n", "mixes"),
        ("\uff45xec('x')\n", "exec"),
        ("\U0001d41e\U0001d431\U0001d41e\U0001d41c('x')\n", "exec"),
        ("x.\uff52un()\n", "run"),
        ("f(\u0455hell=1)\n", "mixes"),
        ("\u0455\u0440\u0430\u0441\u0435 = 1\nspace = 2\n", "space"),
        ("import \u043e\u0455\n", "os"),
        ("\u0391 = 1\nA = 2\n", "A"),
        ("l\u0456st = 1\n", "list"),
        ("\u0422rue = 1\n", "True"),
        ("p\u03bfrt = 1\n", "mixes"),
        ("\u0561\u0562c = 1\n", "mixes"),
        ("\u13abun = 1\n", "mixes"),
        ("sanit\u00ecze = 1\nsanitize = 2\n", "sanitize"),
        ("pr\u00ednt = 1\n", "print"),
        ("\u0430\u0431\u0432 = 1\na\u0431\u0432 = 2\n", "looks like"),
        ("a\u0431\u0432 = 2\n", "mixes"),
        ("\u0433un = 1\n", "run"),
        ("class C:\n    n\u0430me: int\n", "name"),
        ("f\u0131nd = 1\nfind = 2\n", "find"),
        ("import a as \u03bfs\n", "os"),
    ],
)
def test_names_that_look_like_others_are_refused(text, says):
    found = _named(text)
    assert says in found


@pytest.mark.parametrize(
    "text",
    [
        "größe = 1\nstraße = 2\nüber = 3\nfür = 4\n",
        "année = 1\nélève = 2\nœuvre = 3\nça = 4\n",
        "磁盘 = 1\n磁盘_usage = 2\nデータ = 3\n데이터 = 4\nurl列表 = 5\n",
        "Δt = 1\nσ = 2\nλ_max = 3\nμ = 4\nβ1 = 5\n",
        "диск = 1\nпамять = 2\n",
        "kısa = 0\nseñal = 1\nåre = 2\nğ = 3\nłódź = 4\n",
    ],
)
def test_honest_names_in_one_script_are_accepted(text):
    assert _named(text) == ""
