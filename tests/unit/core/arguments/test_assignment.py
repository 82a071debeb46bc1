"""The joint choice gives no words of the request to two inputs."""

from pulsus.core.arguments.assignment import best_assignment, with_second_choices
from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.spans.span import Span


def value(start, end):
    span = Span("word", start, end, "x", "x")
    return Candidate(0, "word", "x", (span,), start, end)


def test_two_inputs_do_not_share_words():
    first, second = value(0, 4), value(6, 9)
    one = [(-5.0, None), (-0.1, first), (-1.0, second)]
    other = [(-5.0, None), (-0.2, first)]
    assert best_assignment([one, other]) == [2, 1]


def test_no_value_is_chosen_if_it_is_likelier():
    assert best_assignment([[(-0.1, None), (-3.0, value(0, 4))]]) == [0]


def test_no_value_is_an_option_beside_many_better_ones():
    same = [(-0.1 * n, value(0, 4)) for n in range(1, 9)]
    options = [[*same, (-9.0, None)], [*same, (-9.0, None)]]
    picks = best_assignment(options)
    assert sorted(picks) == [0, 8]


def test_many_inputs_with_many_values_end_in_bounded_steps():
    options = [[(-9.0, None), *((-1.0 - n / 10, value(n, n + 2)) for n in range(6))]] * 100
    assert len(best_assignment(options)) == 100


def test_an_input_without_a_value_is_given_the_best_that_is_still_free():
    first = Candidate(0, "number", 1, (Span("number", 0, 1, "1", 1.0),), 0, 1)
    second = Candidate(1, "number", 2, (Span("number", 2, 3, "2", 2.0),), 2, 3)
    rival = Candidate(1, "number", 1, (Span("number", 0, 1, "1", 1.0),), 0, 1)
    options = [[(-3.0, None), (-0.1, first)], [(-0.1, None), (-2.0, rival), (-3.0, second)]]
    picks = best_assignment(options)
    assert picks == [1, 0]
    assert with_second_choices(options, picks) == [1, 2]
