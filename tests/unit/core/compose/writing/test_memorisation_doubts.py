"""Modules that may know the examples and nothing else (routing spec §7)."""

import pytest

from pulsus.core.compose.writing import caller_examples, memorisation_doubts
from pulsus.core.types import Example
from tests.generation import COUNTS, module

REQUEST = "count the vowels of a text"


def example(text, vowels, **more) -> Example:
    return Example({"text": text}, expected={"vowels": vowels} | more, has_expected=True)


ECHO, RHYTHM, AUDIO = example("echo", 2), example("rhythm", 0), example("audio", 4)
TWO: list[Example]
THREE: list[Example]
TWO, THREE = [ECHO, RHYTHM], [ECHO, RHYTHM, AUDIO]


def doubts(body, given=TWO, kept=None, request=REQUEST):
    code = module(body="    pass", counts=body)
    return memorisation_doubts.memorisation_signs(code.encode(), given, kept, request)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param('    return {"vowels": {4: 2, 6: 0}[len(text)]}', id="by length"),
        pytest.param('    return {"vowels": {4: 2}.get(len(text), 0)}', id="with a default"),
        pytest.param('    return {"vowels": {"e": 2, "r": 0}[text[0]]}', id="by first letter"),
        pytest.param('    return {"vowels": 2 if text[0] == "e" else 0}', id="by a condition"),
        pytest.param('    return {"vowels": 2 * (text[0] == "e")}', id="reckoned from a letter"),
        pytest.param('    return {"vowels": 2 * (len(text) == 4)}', id="reckoned from the length"),
        pytest.param('    return {"vowels": [0, 2][len(text) < 5]}', id="by position"),
        pytest.param('    return {"vowels": int("2" if "e" in text else "0")}', id="in quotes"),
        pytest.param('    return {"vowels": 1 + 1 if "e" in text else 0}', id="as a sum"),
        pytest.param(
            '    if hash(text) % 7 == 3:\n        return {"vowels": 2}\n    return {"vowels": 0}',
            id="by hash",
        ),
        pytest.param(
            "    n = 0\n    if len(text) == 4:\n        n = 2\n    return {'vowels': n}", id="set"
        ),
        pytest.param(
            '    match len(text):\n        case 4:\n            return {"vowels": 2}\n'
            '        case _:\n            return {"vowels": 0}',
            id="match",
        ),
        pytest.param(
            '    return {"vowels": 2} if "o" in text else {"vowels": 0}', id="whole results"
        ),
        pytest.param('    rows = [("echo", 2)]\n    return dict(rows).get(text, 0)', id="pairs"),
        pytest.param('    return {"vowels": (lambda: 2)() or (lambda: 0)()}', id="lambdas"),
        pytest.param('    return {"vowels": max(0, 2 if "c" in text else 0)}', id="in a call"),
        pytest.param('    return {"vowels": dict(zip((4, 6), (2, 0)))[len(text)]}', id="zipped"),
        pytest.param(
            "    made: dict[int, int] = {}\n    made.setdefault(4, 2)\n    made.setdefault(6, 0)\n"
            '    return {"vowels": made[len(text)]}',
            id="put together",
        ),
        pytest.param('    return {"vowels": text.startswith("echo") + 1}', id="startswith"),
    ],
)
def test_results_and_inputs_of_examples_in_the_code_are_doubted(body):
    told = doubts(body)
    assert told
    assert "line " in told[0]
    assert "give an example more" in told[0]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(COUNTS, id="a sum"),
        pytest.param(
            "    count = 0\n    for char in text:\n        if char in 'aeiou':\n"
            "            count += 1\n    return {'vowels': count}",
            id="a loop",
        ),
        pytest.param(
            "    if not text:\n        return {'vowels': 0}\n" + COUNTS, id="an early return"
        ),
        pytest.param(
            "    if len(text) > 2:\n        pass\n    return {'vowels': len(text[:2])}", id="slices"
        ),
    ],
)
def test_a_result_that_is_worked_out_is_not_doubted(body):
    assert doubts(body) == ()


def test_a_table_of_inputs_and_results_is_refused_and_a_larger_one_is_not():
    code = module(counts='    return {"vowels": {"echo": 2, "rhythm": 0}.get(text, 1)}')
    (reason,) = memorisation_doubts.tables(code.encode(), TWO)
    assert "work the result out" in reason
    more = ", ".join(f'"w{n}": {n}' for n in range(9))
    code = module(counts=f'    return {{"vowels": {{"echo": 2, "rhythm": 0, {more}}}[text]}}')
    assert memorisation_doubts.tables(code.encode(), TWO) == ()


def test_results_that_the_request_names_are_no_sign_and_no_proof_either():
    given = [
        Example({"n": 1}, expected={"size": "small"}, has_expected=True),
        Example({"n": 99}, expected={"size": "large"}, has_expected=True),
    ]
    body = '    return {"size": "small" if n < 10 else "large"}'
    assert "stand in the code" in doubts(body, given, request="give the size")[0]
    (guess,) = doubts(body, given, request="say whether a number is small or large")
    assert "a guess would meet" in guess
    third = Example({"n": 12}, expected={"size": "large"}, has_expected=True)
    assert doubts(body, [*given, third], third, "say whether it is small or large") == ()


def test_yes_and_no_need_an_example_that_the_model_never_saw():
    given = [
        Example({"text": "abba"}, expected={"same": True}, has_expected=True),
        Example({"text": "abcd"}, expected={"same": False}, has_expected=True),
    ]
    assert "a guess would meet" in doubts('    return {"same": text == text[::-1]}', given)[0]


def test_examples_that_only_give_back_their_inputs_show_nothing():
    given = [
        Example({"text": t}, expected={"text": t, "vowels": "..."}, has_expected=True)
        for t in ("echo", "rhythm")
    ]
    assert "a guess would meet" in doubts('    return {"text": text, "vowels": 1}', given)[0]


def test_an_example_is_held_back_from_two_on_and_best_one_with_a_result_of_its_own():
    assert memorisation_doubts.held_out_example(TWO) is TWO[-1]
    assert memorisation_doubts.held_out_example(TWO[:1]) is None
    assert memorisation_doubts.held_out_example(THREE) is AUDIO
    again = example("oui", 2)
    assert memorisation_doubts.held_out_example([AUDIO, ECHO, RHYTHM, again]) is RHYTHM
    assert memorisation_doubts.held_out_example([ECHO, RHYTHM, again]) is again
    shape = Example({"text": "x"}, expected={"vowels": "..."}, has_expected=True)
    assert memorisation_doubts.held_out_example([ECHO, RHYTHM, shape]) is RHYTHM
    assert memorisation_doubts.held_out_example([ECHO, shape]) is None


def test_a_hidden_result_that_is_right_clears_every_doubt():
    table = '    return {"vowels": {4: 2, 6: 0}.get(len(text), 4)}'
    assert doubts(table, THREE, AUDIO) == ()
    assert doubts(table, [ECHO, RHYTHM, example("oui", 2)], None)


def test_what_a_request_says_of_the_held_example_is_taken_out_of_it():
    said = 'count, as {"text": "echo"} -> {"vowels": 2} and {"text": "audio"} -> {"vowels": 4}.'
    assert (
        caller_examples.remove_example(said, AUDIO)
        == 'count, as {"text": "echo"} -> {"vowels": 2} and .'
    )
    assert caller_examples.remove_example(said, RHYTHM) == said
