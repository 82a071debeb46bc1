"""A wrong answer to a request with a known answer gets a reason."""

from dataclasses import replace

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.rankers.calibration import shipped_calibration
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.routing.evaluation.dataset import GoldenRow
from pulsus.routing.evaluation.diagnosis import (
    DiagnosisContext,
    denied_tool,
    twins,
    wrong_policy,
    wrong_steps,
    wrong_tool,
)
from pulsus.routing.evaluation.eval_metrics import evaluate
from tests.ranking import CATALOGUE, ranked, tool

INDEX = Ranker.build(CATALOGUE)


def context(index=INDEX):
    return DiagnosisContext(
        look=lambda query, include: index.rank(query, include=include),
        known=frozenset(t.id for t in index.tools),
        calibration=shipped_calibration(),
        tau=0.6,
    )


def test_diagnosis_suggests_words_for_a_tool_that_has_none():
    row = GoldenRow("largest files", ("memory/usage/memory_summary",))
    found = wrong_tool(row, context())
    assert found.why == "no word of the request is known to memory/usage/memory_summary"
    assert "intent" in found.fix
    assert "manifest" in found.fix


def test_diagnosis_names_the_winner_and_the_deciding_feature():
    expected = "analysis/summarise/summarize_matrix"
    found = wrong_tool(GoldenRow("summary of memory in use", (expected,)), context())
    assert "memory/usage/memory_summary" in found.why
    assert "summary" in found.matched
    assert "memory" in found.lacks
    assert found.expected_rank is not None
    assert found.expected_rank > 1
    assert found.expected_p is not None


def test_near_twins_are_called_so():
    twin = tool("network/dns/resolve_host", "Look up the addresses of a host name.", kind="read")
    assert twins(twin, replace(twin, name="host_resolve"))
    index = Ranker.build([*CATALOGUE, replace(twin, name="lookup_dns")])
    found = wrong_tool(GoldenRow("dns lookup of a host name", (twin.id,)), context(index))
    assert found.why.startswith("near-twin: network/dns/dns_lookup and network/dns/resolve_host")
    assert "merge" in found.fix


def test_tools_that_share_little_are_no_twins():
    assert not twins(CATALOGUE[0], CATALOGUE[1])
    assert not twins(tool("shared/x/a"), replace(tool("shared/x/b"), name=""))


def test_diagnosis_reports_an_unknown_id():
    found = wrong_tool(GoldenRow("x", ("no/such/tool",)), context())
    assert found.why == "no such tool: no/such/tool"


def test_diagnosis_suggests_the_id_for_an_unknown_id():
    found = wrong_tool(GoldenRow("x", ("memory_summary",)), context())
    assert found.fix == "did you mean memory/usage/memory_summary for memory_summary?"


def test_diagnosis_blames_the_filter_and_not_missing_words():
    name = "memory/usage/memory_summary"
    denied = replace(context(), refused={name: "not allowed by access.deny pattern 'memory/*'"})
    found = wrong_tool(GoldenRow("summary of memory in use", (name,)), denied)
    assert found.why.startswith(f"taken out before ranking: {name}: ")
    assert "access.deny pattern 'memory/*'" in found.why
    assert "settings" in found.fix


def test_diagnosis_blames_the_filter_for_a_plan_but_not_for_an_alternative():
    both = ("memory/usage/memory_summary", "network/dns/dns_lookup")
    denied = replace(context(), refused={both[0]: "denied"})
    assert denied_tool(GoldenRow("q", both, "compose"), denied) is not None
    assert denied_tool(GoldenRow("q", both, any_of=True), denied) is None
    assert denied_tool(GoldenRow("q", (), "generate"), denied) is None


def test_diagnosis_shows_how_far_the_right_tool_is_below_tau():
    found = wrong_policy(
        GoldenRow("how many inodes", ("shared/x/a",), "select"),
        PolicyChoice("generate", (), ""),
        [replace(ranked("shared/x/a", 0.4), unmatched=("inodes",))],
        context(),
    )
    assert found.why.startswith("p below τ: 0.40 < 0.60 because ")
    request_first = "add this request to `requests` in the manifest of shared/x/a"
    assert found.fix == f"{request_first}, or an intent with 'inodes'"


def test_something_chosen_where_nothing_fits_is_named_with_the_words_that_did_it():
    best = ranked("shared/x/a", 0.8)
    found = wrong_policy(
        GoldenRow("q", (), "generate"), PolicyChoice("select", (best,), ""), [best], context()
    )
    assert found.why == "p 0.80 reaches τ 0.60 though nothing fits: shared/x/a on word"
    assert "anti-intent" in found.fix


def test_diagnosis_lists_the_steps_of_a_split_request():
    steps = (ranked("shared/x/a", 0.8), ranked("shared/x/b", 0.8))
    found = wrong_policy(
        GoldenRow("q", ("shared/x/a",), "select"),
        PolicyChoice("compose", steps, ""),
        steps,
        context(),
    )
    assert found.why == "taken apart into 2 steps: shared/x/a + shared/x/b"


def test_a_split_that_chose_the_right_tool_is_not_blamed_on_its_rank():
    first, second = ranked("shared/x/b", 0.8), ranked("shared/x/a", 0.7)
    report = evaluate(
        [GoldenRow("q", ("shared/x/a",), "select")],
        lambda query: [first, second],
        lambda query, found: PolicyChoice("compose", (second, first), ""),
        tau=0.6,
        tools=2,
        index_seconds=0.0,
        seconds=lambda: 0.0,
        context=context(),
    )
    (failure,) = report.failures
    assert failure.cause
    assert failure.cause.why == "taken apart into 2 steps: shared/x/a + shared/x/b"
    assert "manifest of the tool that answers it alone" in failure.cause.fix


def test_a_plan_that_was_not_made_says_why():
    row = GoldenRow("q", ("shared/x/a", "shared/x/b"), "compose")
    found = wrong_policy(row, PolicyChoice("generate", (), "no candidate reaches τ"), [], context())
    assert found.why == "no plan was made: no candidate reaches τ"


def test_a_request_without_candidates_says_so():
    row = GoldenRow("q", ("shared/x/a",), "select")
    found = wrong_policy(row, PolicyChoice("generate", (), ""), [], context())
    assert found.why == "no tool shares a word with the request"


def test_the_step_that_differs_is_named():
    row = GoldenRow("q", ("shared/x/a", "shared/x/b"), "compose")
    assert wrong_steps(row, ("shared/x/a", "shared/x/c")).why == (
        "step 2 is shared/x/c, expected shared/x/b"
    )
    assert wrong_steps(row, ("shared/x/a",)).why == "1 step, 2 expected"
