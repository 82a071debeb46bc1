"""A request can be cut only between its parts (spec §6)."""

import pytest

from pulsus.core.compose.selection.cut_points import find_pieces
from pulsus.core.compose.selection.row_operations import (
    match_given_rows,
    match_row_operation,
    strip_orders,
)


def parts(request):
    return [strip_orders(request[p.start : p.end]) for p in find_pieces(request)]


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("alpha, then beta", ["alpha", "beta"]),
        ("alpha and beta", ["alpha", "beta"]),
        ("check alpha, beta and gamma", ["check alpha", "beta", "gamma"]),
        ("first alpha, then whether beta, finally gamma", ["alpha", "whether beta", "gamma"]),
        ("alpha + beta", ["alpha", "beta"]),
        ("alpha as a table", ["alpha", "as a table"]),
        ("put alpha into an archive", ["put alpha into an archive"]),
        ("turn alpha into a new tarball", ["turn alpha into a new tarball"]),
        ("alpha where size > 5", ["alpha", "where size > 5"]),
        ("alpha, written to beta.csv", ["alpha", "written to beta.csv"]),
        ("alpha as a tabel in /tmp/b.md", ["alpha", "as a tabel", "in /tmp/b.md"]),
        ("alpha -> markdown -> /tmp/b.md", ["alpha", "markdown", "/tmp/b.md"]),
        ("dump the alpha to /tmp/b.json", ["dump the alpha", "to /tmp/b.json"]),
        ("alpha - top 5 by size", ["alpha", "top 5 by size"]),
        (
            "alpha, write a markdown table to /tmp/b.md",
            ["alpha", "write a markdown table", "to /tmp/b.md"],
        ),
        ("alpha, save the table to /tmp/b.md", ["alpha", "save the table to /tmp/b.md"]),
        ("alpha, table, /tmp/b.md", ["alpha", "table", "/tmp/b.md"]),
        ("alpha | beta", ["alpha", "beta"]),
        ("alpha as | x | y | for a ticket", ["alpha as | x | y | for a ticket"]),
    ],
)
def test_a_request_can_be_cut_where_its_grammar_joins_parts(request_text, expected):
    assert parts(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "alpha between 10:00 and 10:05",
        'alpha "now, then and later"',
        "alpha, incl. beta",
        "alpha, not beta",
        "alpha, 2024-05-02 09:55",
        "alpha, please",
        "ps aux | sort -nrk 4 | head -5",
        "mount says the target is busy, which process holds it",
        "the proxy is slow, is it alpha",
        "I don't know why, show alpha",
        "turn it into a table",
        "alpha goes from a.json to b.json",
        "what was written to alpha.log",
        "peek into /srv/alpha",
        "here's a dump of alpha: /tmp/alpha.txt. What is beta in it",
        "alpha? /var/log/alpha.log",
        "next 5 alphas",
        "draw these numbers, the big matrix in m.csv",
    ],
)
def test_parts_that_belong_together_stay_in_one_piece(request_text):
    assert len(parts(request_text)) == 1


def test_an_operation_on_rows_is_never_cut_in_two():
    said = parts("alpha, keep only those whose name starts with b")
    assert said == ["alpha", "keep only those whose name starts with b"]


def test_a_repeated_operation_on_rows_counts_once():
    sort, table, again = (
        p.operation for p in find_pieces("alpha, sorted by size, first 10, as a table") if p.start
    )
    assert [sort is None, table is None, again is None] == [False, True, False]


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("top 5 by size", "sort"),
        ("the three oldest", "sort"),
        ("slowest first", "sort"),
        ("ordered by name", "sort"),
        ("only those above 80 %", "filter"),
        ("where state is failed", "filter"),
        ("excluding all tmpfs", "filter"),
        ("as a markdown table", "table"),
        ("in a table for the wiki", "table"),
        ("saved to /tmp/a.json", "save"),
        ("put it in a.txt", "save"),
        ("the 3 cards with most errors", "sort"),
        ("just 5 of them", "sort"),
        ("keep state zombie", "filter"),
        ("leave only status missing", "filter"),
        ("narrow to risk setuid", "filter"),
        ("of these the ones with more than 5 files", "filter"),
        ("those that differ", "filter"),
        ("weak ones only", "filter"),
        ("make a tabel", "table"),
        ("markdwon", "table"),
        ("drop it at /tmp/a.md", "save"),
        ("result into /tmp/lint.json", "save"),
        ("file /tmp/a.md", "save"),
    ],
)
def test_a_clause_with_an_operation_on_rows_is_recognised(said, word):
    assert word in (match_row_operation(said) or "").split()


@pytest.mark.parametrize(
    "said",
    [
        "where is the printer",
        "only on web01",
        "names only",
        "put up a shelf",
        "the routing table",
        "compare it with b",
        "in table orders of the shop",
        "keep it in mind",
    ],
)
def test_a_clause_without_an_operation_on_rows_is_recognised(said):
    assert match_row_operation(said) is None


@pytest.mark.parametrize(
    ("request_text", "word"),
    [
        ("sort these rows by size", "sort"),
        ("from those results drop the rows of root", "filter"),
        ("just the top 3 by size from this result", "sort"),
        ("put the output in a.md", "save"),
        ("top rows by cpu column", "sort"),
        ("keep the first 5 rows by cpu", "sort"),
    ],
)
def test_a_request_about_given_rows_is_recognised(request_text, word):
    assert word in (match_given_rows(request_text) or "").split()


@pytest.mark.parametrize(
    "request_text",
    ["top 10 files", "save power", "list those files", "first 5 rows of a.csv"],
)
def test_a_request_that_must_find_rows_first_is_not_about_given_rows(request_text):
    assert match_given_rows(request_text) is None
