"""Examples in docstrings (docs/tool-contract.md)."""

import textwrap
import time

import pytest

from pulsus.core.contract import examples
from pulsus.core.types import Example, InlineFile


def read(text, arguments=("a", "b")):
    return examples.read_examples(textwrap.dedent(text), arguments)


def errors(text, arguments=("a", "b")):
    return read(text, arguments)[1]


def test_an_escape_that_python_has_read_is_told_the_rule_for_docstrings():
    (told,) = errors('- inputs: {a: "x')
    assert told.endswith('; if the docstring contains a backslash, begin it with r"""')
    assert "backslash" not in errors("- inputs: {a: [1}\n")[0]


def test_an_example_carries_inputs_files_and_what_it_expects():
    found, problems = read(
        """
        - title: two files
          inputs: {a: /tmp/x, b: [1, 2.5, null, true]}
          files:
            /tmp/x/old.txt: {mtime: -86400, text: "old"}
            /tmp/x/raw: {base64: "AAH/"}
            /tmp/x/t: "ab"
          output: {rows: [...], n: ...}
        """
    )
    assert problems == ()
    assert found == (
        Example(
            inputs={"a": "/tmp/x", "b": [1, 2.5, None, True]},
            files=(
                InlineFile("/tmp/x/old.txt", b"old", 86400.0),
                InlineFile("/tmp/x/raw", b"\x00\x01\xff"),
                InlineFile("/tmp/x/t", b"ab"),
            ),
            expected={"rows": ["..."], "n": "..."},
            has_expected=True,
            title="two files",
        ),
    )


def test_wildcards_need_no_quotes_in_any_yaml_style():
    found, problems = read(
        """
        - inputs: {}
          output:
            a: ...
            ...: ...
            rows:
              - 1
              - ...
        - inputs: {}
          output: {...: ..., b: [...]}
        - inputs: {}
          output: ...
        """
    )
    assert problems == ()
    assert [e.expected for e in found] == [
        {"a": "...", "...": "...", "rows": [1, "..."]},
        {"...": "...", "b": ["..."]},
        "...",
    ]


def test_a_null_output_is_an_expectation_and_a_missing_output_is_not():
    found, _ = read("- inputs: {}\n  output: null\n- inputs: {}\n")
    assert [(e.expected, e.has_expected) for e in found] == [(None, True), (None, False)]


def test_words_that_yaml_1_1_changes_stay_words():
    found, problems = read("- inputs: {a: [yes, off, 12:30, 2024-01-31, 010, 1e3, 0x10, ~]}")
    assert problems == ()
    assert found[0].inputs["a"] == ["yes", "off", "12:30", "2024-01-31", 10, 1000.0, 16, None]


def test_list_items_may_stand_at_the_left_margin():
    assert len(read("- inputs: {a: 1}\n# note\n- inputs: {a: 2}")[0]) == 2


def test_a_bad_example_leaves_the_good_ones():
    found, problems = read("- inputs: {a: 1}\n- inputs: {c: 1}\n- inputs: {b: 1}")
    assert [dict(e.inputs) for e in found] == [{"a": 1}, {"b": 1}]
    assert problems == ("Examples, item 2: input 'c' is no argument (known: a, b)",)


def test_any_input_fits_an_entry_that_takes_any():
    assert errors("- inputs: {whatever: 1}", None) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("inputs: {a: 1}", "not a YAML list"),
        ("- inputs: {a: 1", "line 1: did not find"),
        ("- 5", "not a mapping"),
        ("- title: x", "no `inputs`"),
        ("- inputs: [1]", "inputs is not a mapping"),
        ("- {inputs: {}, outputs: 1}", "unknown key 'outputs'"),
        ("- {inputs: {}, title: 5}", "title 5 is not text"),
        ("- {inputs: {}, files: [a]}", "files is not a mapping"),
        ("- {inputs: {}, files: {/etc/passwd: x}}", "under /tmp/"),
        ("- {inputs: {}, files: {/tmp/../etc/passwd: x}}", "`..`"),
        ("- {inputs: {}, files: {/tmp//x: x}}", "empty"),
        ("- {inputs: {}, files: {/tmp/x/: x}}", "under /tmp/"),
        ("- {inputs: {}, files: {tmp/x: x}}", "under /tmp/"),
        ("- {inputs: {}, files: {/tmp/x: 5}}", "is not a mapping"),
        ("- {inputs: {}, files: {/tmp/x: {mtime: -1}}}", "exactly one"),
        ("- {inputs: {}, files: {/tmp/x: {text: a, base64: YQ==}}}", "exactly one"),
        ("- {inputs: {}, files: {/tmp/x: {text: a, mode: 1}}}", "unknown key 'mode'"),
        ("- {inputs: {}, files: {/tmp/x: {text: a, mtime: old}}}", "mtime 'old'"),
        ("- {inputs: {}, files: {/tmp/x: {text: 5}}}", "5 is not text"),
        ("- {inputs: {}, files: {/tmp/x: {base64: '%'}}}", "not base64"),
        ("- {inputs: {}, files: {/tmp/x: a, /tmp/x/y: b}}", "each other's way"),
        ("- {inputs: {a: 1, a: 2}}", "'a' occurs twice"),
        ("- {inputs: {1: 2}}", "put it in quotes"),
        ("- {inputs: {[1]: 2}}", "a key must be text"),
        ("- {inputs: {a: .nan}}", "not a finite number"),
        ("- {inputs: {a: 1e999}}", "not a finite number"),
        ("- {inputs: {a: &x 1}}", "anchors"),
        ("- {inputs: {a: *x}}", "aliases"),
        ("- {inputs: {a: !!python/object:os.system 1}}", "tags"),
        ("- inputs: {}\n---\n- inputs: {}", "more than one document"),
        ("- {inputs: {a: " + "9" * 5000 + "}}", "5000 digits"),
    ],
)
def test_an_example_that_cannot_run_as_written_is_named(text, said):
    found, problems = read(text)
    assert found == ()
    assert len(problems) == 1
    assert said in problems[0]
    assert "\n" not in problems[0]


def test_deep_nesting_is_refused_at_once_instead_of_hanging():
    started = time.process_time()
    assert "deeper than 64" in errors("- " + "[" * 100_000)[0]
    assert time.process_time() - started < 2
