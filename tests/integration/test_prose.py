"""Docstrings, comments, messages and docs stay free of forms that need a second reading."""

import ast
import functools
import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = sorted([*(ROOT / "agents").rglob("*.py"), *(ROOT / "scripts").glob("*.py")])
STOP_WORDS = ROOT / "agents/pulsus/core/text/tokens.py"
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
WORDS = re.compile(
    r"\b(?:[Ss]omebody|(?<![`'])[Nn]obody(?![:`'])|[Ww]hoever|(?:is|are) none\b(?! of)"
    r"|[Ww]hat came of|[Tt]here is none(?! here)|and the like|if nowhere else)\b"
)
HEADLESS = re.compile(r"(?:What|Whether|Whoever|Where|Why|Which|How|Who)\b(?![^.]*\?)")
"""A first line that points at a fact instead of saying it; a question is fine."""


@functools.cache
def texts(path):
    """Return the docstrings of a file, also of constants and fields, and its strings with a blank.

    Both are pairs of a line and a text.
    """
    docstrings, strings = [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and " " in node.value:
                strings.append((node.lineno, node.value))
            continue
        body = getattr(node, "body", None)  # an expression in a lambda
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings.append((statement.lineno, value.value))
    return docstrings, strings


def comments(path):
    """Return the lines and texts of the comments, if a line with a comment has a hit at all."""
    source = path.read_text(encoding="utf-8")
    # To cut a file into tokens takes longer than all else here.
    if not any("#" in line and WORDS.search(line) for line in source.split("\n")):
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT]


def name(path):
    return path.relative_to(ROOT).as_posix()


def test_docstrings_of_constants_are_read_too(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""A."""\nB = 1\n"""What B is."""\nclass C:\n    d: int\n    """D."""\n'
    )
    docstrings, _ = texts(tmp_path / "a.py")
    assert [text for _, text in docstrings] == ["A.", "What B is.", "D."]


def test_words_are_found_in_strings_and_comments(tmp_path):
    (tmp_path / "a.py").write_text('A = "one"\nB = ("there is "\n     "none")  # nobody\n')
    assert list(hits(tmp_path / "a.py")) == ["2: there is none", "3: nobody"]


def hits(path):
    """Yield the line and the words of every hit in a string or a comment."""
    for line, text in (*texts(path)[1], *comments(path)):
        for hit in WORDS.finditer(text):
            yield f"{line}: {hit[0]}"


def test_a_docstring_begins_with_what_it_says():
    assert [
        f"{name(path)}:{line}: {text[:70]}"
        for path in PYTHON
        for line, text in texts(path)[0]
        if HEADLESS.match(text)
    ] == []


def test_words_without_a_referent_do_not_come_back():
    # The stop words are a list of words that requests use.
    files = [path for path in PYTHON if path != STOP_WORDS]
    assert [f"{name(path)}:{hit}" for path in files for hit in hits(path)] == []


def test_a_message_does_not_name_a_page_as_if_the_users_repository_had_it():
    page = re.compile(r"docs/[\w/-]+\.md(?! of\b)")
    files = [path for path in PYTHON if path.is_relative_to(ROOT / "agents")]
    assert [
        f"{name(path)}:{line}: {text[:70]}"
        for path in files
        for line, text in texts(path)[1]
        if page.search(text) and text not in {told for _, told in texts(path)[0]}
    ] == []


def test_docs_name_who_does_what():
    assert [
        f"{name(page)}:{number}: {hit[0]}"
        for page in PAGES
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for hit in WORDS.finditer(line)
    ] == []
