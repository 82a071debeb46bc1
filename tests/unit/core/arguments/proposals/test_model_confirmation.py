"""A value of the model counts only if both of its answers point at words of the request."""

import pytest

from pulsus.core.arguments.argument_model import ArgumentModel
from pulsus.core.arguments.filler import FilledValue, Filling
from pulsus.core.arguments.inputs import from_schema
from pulsus.core.arguments.proposals.model_confirmation import confirm, with_agreed_values
from pulsus.core.arguments.proposals.open_inputs import find_open_inputs

NOTHING = Filling((), ())


def weights(**scores):
    """Weights that count only whether an input has a value, or of which kind it is."""
    none = scores.pop("none", 0.0)
    named = {f"none|{need}": none for need in ("required", "default", "optional")}
    return ArgumentModel(named | {f"kind={k}": v for k, v in scores.items()}, (), 0.0, ())


DOUBTFUL, AGAINST, FOR = weights(none=1.0), weights(none=3.0), weights(number=3.0)
PORT = {"type": "integer", "description": "TCP port, 1 to 65535."}
TOP = {"type": "integer", "description": "How many lines.", "default": 20}
DAYS = {"type": "integer", "description": "Days since the last change."}
LEAST = {"type": "integer", "description": "The number of attempts from which it counts."}
ROOT = {"type": "string", "description": "The folder.", "default": "/"}


def tool(required=(), **inputs):
    parameters = {"properties": inputs, "required": list(required)}
    return from_schema({"name": "report", "description": "Report.", "parameters": parameters})


def opened(request, of, filling=NOTHING, by=DOUBTFUL):
    found = find_open_inputs(request, of, filling, weights=by)
    assert found is not None
    return found


def decide(request, of, given_to, words, filling=NOTHING, by=DOUBTFUL):
    found = opened(request, of, filling, by)
    confirmed = confirm(given_to, words, found)
    values = with_agreed_values(filling, found, confirmed).values
    return {one.name: (one.value, one.state, one.by) for one in values}


def values(*args, **options):
    return {name: value for name, (value, _, _) in decide(*args, **options).items()}


def test_a_value_that_both_answers_name_is_used():
    of = tool(["port"], port=PORT)
    assert values("who listens on 5432", of, {"5432": "port"}, {"port": "5432"}) == {"port": 5432}


@pytest.mark.parametrize(
    ("given_to", "words"),
    [
        ({"5432": "port"}, {"port": None}),
        ({"5432": "port"}, {"port": "8080"}),
        ({"5432": "port"}, {"port": ""}),
        ({"5432": "port"}, {"port": "who"}),
        ({}, {"port": "5432"}),
        ({"8080": "port"}, {"port": "8080"}),
        ({"5432": "host"}, {"port": "5432", "host": "5432"}),
        ({"5432": "port"}, {}),
    ],
)
def test_a_value_that_one_answer_lacks_or_the_request_does_not_hold_is_dropped(given_to, words):
    assert values("who listens on 5432", tool(["port"], port=PORT), given_to, words) == {}


def test_the_words_decide_what_the_value_is_and_not_the_model():
    of = tool(["days"], days=DAYS)
    request = "files untouched for two weeks"
    assert values(request, of, {"two weeks": "days"}, {"days": "two weeks"}) == {"days": 14}
    assert values(request, of, {"two weeks": "days"}, {"days": "14"}) == {"days": 14}
    assert values(request, of, {"two weeks": "days"}, {"days": "2"}) == {}


def test_words_around_a_value_mean_it_unless_they_hold_another_one():
    of = tool(["least"], least=LEAST, top=TOP)
    request = "suspicious from 50 attempts, at 7 lines"
    given_to = {"50": "least"}
    assert values(request, of, given_to, {"least": "from 50 attempts"}) == {"least": 50}
    assert values(request, of, given_to, {"least": "50 attempts, at 7 lines"}) == {}


def test_part_of_a_word_means_no_value():
    of = tool(["port"], port=PORT)
    assert values("who listens on 5432", of, {"5432": "port"}, {"port": "54"}) == {}


def test_a_path_instead_of_a_path_by_default_is_proposed_and_not_used():
    answers = {"/etc/cron.d": "root"}, {"root": "/etc/cron.d"}
    got = decide("jobs from /etc/cron.d", tool(root=ROOT), *answers, Filling((), ("/etc/cron.d",)))
    assert got == {"root": ("/etc/cron.d", "propose", ("model",))}


def test_a_value_may_belong_to_a_required_input_that_stays_open():
    network = {"type": "string", "description": "A network in CIDR notation."}
    split = {"type": "integer", "description": "The prefix length to split into.", "default": 0}
    of = tool(["network"], network=network, split_prefix=split)
    found = Filling((), ("26",))
    got = decide(
        "how many hosts in a /26", of, {"26": "split_prefix"}, {"split_prefix": "26"}, found
    )
    assert got == {"split_prefix": (26, "propose", ("model",))}


def test_a_name_that_only_the_model_gives_is_proposed():
    of = tool(["title"], title={"type": "string", "description": "The title of the film."})
    answers = {"Blue Velvet": "title"}, {"title": "Blue Velvet"}
    got = decide("show Blue Velvet to us", of, *answers)
    assert got == {"title": ("Blue Velvet", "propose", ("model",))}


@pytest.mark.parametrize(
    ("by", "state", "named"),
    [
        (FOR, "fill", ("words", "model")),
        (DOUBTFUL, "fill", ("model",)),
        (AGAINST, "propose", ("model",)),
    ],
)
def test_a_value_that_the_weights_speak_against_is_only_proposed(by, state, named):
    of = tool(["port"], port=PORT)
    got = decide("who listens on 5432", of, {"5432": "port"}, {"port": "5432"}, by=by)
    assert got == {"port": (5432, state, named)}


def test_two_inputs_never_share_words():
    of = tool(["least", "port"], least=LEAST, port=PORT)
    found = opened("it counts from 5432", of)
    given_to = {"5432": "least"}
    both = {"least": "5432", "port": "5432"}
    assert list(confirm(given_to, both, found)) == ["least"]


def test_a_value_that_is_the_default_changes_nothing_and_is_not_called_unused():
    of = tool(["port"], port=PORT, top=TOP)
    filling = Filling((), ("20",))
    found = opened("20 lines for port 5432", of, filling)
    confirmed = confirm({"20": "top"}, {"top": "20"}, found)
    assert list(confirmed) == ["top"]
    assert with_agreed_values(filling, found, confirmed) == NOTHING


def test_a_proposal_gives_way_to_the_input_that_the_model_gives_its_words_to():
    of = tool(["least", "port"], least=LEAST, port=PORT)
    wrong = FilledValue("least", 5432, "5432", 0.5, "propose")
    chooses = weights(number=3.0)
    got = decide(
        "it is 5432", of, {"5432": "port"}, {"port": "5432"}, Filling((wrong,), ()), by=chooses
    )
    assert "least" not in got
    assert got["port"][0] == 5432


def test_what_the_words_filled_stays_as_it_was():
    path = FilledValue("path", "/srv/a.log", "/srv/a.log", 0.97, "fill")
    of = tool(["path", "port"], path={"type": "string", "description": "The file."}, port=PORT)
    request = "who opens 5432 in /srv/a.log"
    filling, by = Filling((path,), ("5432",)), weights(none=1.0, path=9.0)
    got = decide(request, of, {"5432": "port"}, {"port": "5432"}, filling, by)
    assert got["path"] == ("/srv/a.log", "fill", ("words",))
    assert got["port"][0] == 5432


def test_an_answer_whose_letters_grow_in_lower_case_is_read():
    of = tool(["port"], port=PORT)
    request = "İİİ who listens on 5432"
    assert values(request, of, {"5432": "port"}, {"port": "on 5432"}) == {"port": 5432}
