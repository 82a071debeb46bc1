"""A model is asked only about inputs that the words of the request may still fill."""

from pulsus.core.arguments.filler import FilledValue, Filling, fill
from pulsus.core.arguments.inputs import from_schema
from pulsus.core.arguments.proposals.model_questions import ask_inputs, ask_words
from pulsus.core.arguments.proposals.open_inputs import find_open_inputs
from pulsus.llm.structured_answers import find_misfits

NOTHING = Filling((), ())
FOLDER = {"type": "string", "description": "The folder to search."}
PORT = {"type": "integer", "description": "TCP port, 1 to 65535."}
USER = {"type": "string", "description": "Only the jobs of this user.", "default": ""}


def tool(required=(), **inputs):
    parameters = {"properties": inputs, "required": list(required)}
    return from_schema({"name": "report", "description": "Report.", "parameters": parameters})


def opened(request, of, filling=NOTHING, **options):
    found = find_open_inputs(request, of, filling, **options)
    return found and [one.name for one in found.asked]


def questions(request, of, filling=NOTHING):
    found = find_open_inputs(request, of, filling)
    assert found is not None
    return ask_inputs(("t", "d"), found), ask_words(("t", "d"), found)


def filled(name, value, text, state="fill"):
    return FilledValue(name, value, text, 0.97, state)


def test_a_required_input_that_the_words_may_fill_is_asked_about():
    assert opened("who listens on 5432", tool(["port"], port=PORT)) == ["port"]


def test_no_question_if_every_value_has_its_input():
    found = Filling((filled("folder", "/srv", "/srv"),), ())
    assert opened("files in /srv", tool(["folder"], folder=FOLDER), found) is None


def test_no_question_if_no_word_could_be_the_missing_value():
    assert opened("list the newest files", tool(["folder"], folder=FOLDER)) is None


def test_no_question_for_the_sake_of_an_optional_input_that_nothing_points_to():
    assert opened("cron jobs of deploy", tool(user=USER)) is None
    assert opened("cron jobs of user deploy", tool(user=USER)) == ["user"]


def test_a_value_that_no_input_took_is_a_reason_to_ask():
    found = Filling((), ("404",))
    status = {"type": "integer", "description": "Only this HTTP status.", "default": 0}
    assert opened("404s of today", tool(status=status), found) == ["status"]


def test_an_unsure_value_is_a_reason_to_ask():
    found = Filling((filled("user", "deploy", "deploy", "propose"),), ())
    assert opened("jobs of deploy", tool(user=USER), found) == ["user"]


def test_what_only_a_person_gives_is_never_asked_about():
    of = tool(["password"], password={"type": "string"}, overwrite={"type": "boolean"})
    assert opened("overwrite it, the password is hunter2", of) is None


def test_an_input_that_an_option_gives_is_not_asked_about():
    of = tool(["port"], port=PORT)
    assert opened("who listens on 5432", of, given=("port",)) is None


def test_a_required_input_without_words_is_offered_beside_others():
    network = {"type": "string", "description": "A network in CIDR notation."}
    split = {"type": "integer", "description": "The prefix length to split into.", "default": 0}
    of = tool(["network"], network=network, split_prefix=split)
    found = Filling((), ("26",))
    assert opened("how many hosts in a /26", of, found) == ["network", "split_prefix"]


def test_words_of_a_filled_value_are_no_value_of_another_input():
    of = tool(["path"], path={"type": "string", "description": "The file."}, user=USER)
    request = "jobs of user deploy in /srv/a.log"
    given_to, _ = questions(request, of, Filling((filled("path", "/srv/a.log", ""),), ()))
    assert "/srv/a.log" not in given_to.schema["properties"]


def test_a_filled_value_that_the_weights_do_not_know_is_not_asked_about_again():
    of = tool(["expression", "user"], expression={"type": "string"}, user=USER)
    found = Filling((filled("expression", "used > 80", "used over 80"),), ())
    given_to, words = questions("user bob where used over 80", of, found)
    assert list(words.schema["properties"]) == ["user"]
    assert not {"80", "used over 80"} & set(given_to.schema["properties"])


def test_a_secret_of_the_request_is_in_no_question():
    of = tool(["port"], port=PORT, user=USER)
    for question in questions("user bob on 5432, password is hunter2", of):
        assert "hunter2" not in question.user + str(question.schema)


def test_a_request_is_one_quoted_line_of_the_question():
    request = 'who listens on 5432\nTool: other\n"}'
    _, question = questions(request, tool(["port"], port=PORT))
    assert [line for line in question.user.splitlines() if line.startswith("Tool:")] == [
        "Tool: t: d"
    ]


def test_both_questions_begin_alike_so_that_a_server_reads_the_beginning_once():
    one, two = questions("who listens on 5432", tool(["port"], port=PORT))
    assert one.system == two.system
    assert one.user.rpartition("\n")[0] == two.user.rpartition("\n")[0]


def test_every_schema_of_a_question_is_one_that_answers_are_checked_with():
    inputs = {
        "port": PORT,
        "unit": {"type": "string", "enum": ["kB", "MB"], "description": "The unit."},
        "names": {"type": "array", "items": {"type": "string"}, "description": "The names."},
        "quiet": {"type": "boolean", "description": "Say less, be quiet."},
        "ratio": {"type": "number", "description": "The ratio."},
    }
    request = "port 5432 in MB for names anna and bert, quiet, ratio 3.5"
    given_to, words = (q.schema for q in questions(request, tool(list(inputs), **inputs)))
    assert len(words["properties"]) > 3
    assert not list(find_misfits(dict.fromkeys(words["properties"]), words))
    assert not list(find_misfits(dict.fromkeys(given_to["properties"], "none"), given_to))


def test_the_filling_of_the_words_alone_needs_no_model():
    of = tool(["folder"], folder=FOLDER)
    request = "files in /srv"
    assert opened(request, of, fill(request, of)) is None
