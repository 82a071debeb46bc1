"""The scorer (spec §5): score, order, tie-breaks, p, explanation."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers.feature_protocol import PastVotes
from pulsus.core.rankers.lexical.query_terms import request_terms
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.rankers.scorer import dense_share
from pulsus.core.rankers.tie_breaks import RankedCandidate, end_of_tie, tie_break, tie_key
from pulsus.core.types import ArgSpec, ToolHistory, Vote
from tests.ranking import CATALOGUE, tool

NOW = datetime(2026, 3, 1, tzinfo=UTC)
INDEX = Ranker.build(
    CATALOGUE,
    synonyms={"ram": ("memory",), "disk space": ("filesystem",), "cert": ("certificate",)},
)


def top(request, index=INDEX):
    return index.rank(request)[0].tool.id


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("how full are the filesystems", "storage/usage/disk_usage"),
        ("how much ram is in use", "memory/usage/memory_summary"),
        ("when does the cert for example.com run out", "web/tls/certificate_expiry"),
        ("memroy sumary", "memory/usage/memory_summary"),
        ("listeningports", "network/ports/listening_ports"),
        ("what is listening", "network/ports/listening_ports"),
        ("scheduled crons", "services/schedule/cron_jobs"),
    ],
    ids=["words", "synonym", "short form", "typos", "joined", "inflection", "plural"],
)
def test_a_request_finds_its_tool(request_text, expected):
    assert top(request_text) == expected


def test_score_is_the_weighted_sum_of_what_is_shown():
    for found in INDEX.rank("show disk usage and memory"):
        total = sum(found.weights.values())
        shown = sum(found.weights[n] * found.features[n] for n in found.weights) / total
        assert found.score == pytest.approx(shown)
        assert set(found.weights) == set(found.features)


def test_weights_come_from_the_settings():
    config = RankerConfig(weights={"name": 1.0, "doc": 0.0, "history": 0.0})
    best = Ranker.build(CATALOGUE, config).rank("disk usage")[0]
    assert best.score == best.features["name"]


@pytest.mark.parametrize(
    ("winner", "loser", "reason"),
    [
        pytest.param(
            RankedCandidate(tool("d/a/z"), {"history": 0.0}, 0.5),
            RankedCandidate(tool("shared/a/b"), {"history": 0.9}, 0.5),
            "domain tool over shared tool",
            id="domain beats shared",
        ),
        pytest.param(
            RankedCandidate(tool("d/a/z"), {"history": 0.9}, 0.5),
            RankedCandidate(tool("d/a/b"), {"history": 0.1}, 0.5),
            "higher history",
            id="better history wins",
        ),
        pytest.param(
            RankedCandidate(tool("d/a/z", path=Path("/w/z.py")), {"history": 0.0}, 0.5),
            RankedCandidate(tool("d/a/b", path=Path("/w/deep/b.py")), {"history": 0.0}, 0.5),
            "shallower path",
            id="shallower path wins",
        ),
        pytest.param(
            RankedCandidate(tool("z/a/b"), {"history": 0.0}, 0.5),
            RankedCandidate(tool("d/a/c"), {"history": 0.0}, 0.5),
            "lexicographic by filename",
            id="file name decides",
        ),
        pytest.param(
            RankedCandidate(tool("d/a/b"), {"history": 0.0}, 0.5),
            RankedCandidate(tool("e/a/b"), {"history": 0.0}, 0.5),
            "lexicographic by id",
            id="id makes the order total",
        ),
    ],
)
def test_equal_scores_are_ordered_by_the_spec(winner, loser, reason):
    assert sorted([loser, winner], key=tie_key) == [winner, loser]
    assert tie_break(winner, loser) == reason


def test_a_better_score_beats_every_tie_breaker():
    shared = RankedCandidate(tool("shared/a/z"), {"history": 0.0}, 0.51)
    domain = RankedCandidate(tool("d/a/a"), {"history": 1.0}, 0.50)
    assert tie_break(shared, domain) is None
    found = Ranker.build(
        (
            tool("shared/a/feed_state", "Tell whether a widget feed is fresh."),
            tool("d/a/probe", "Tell whether a feed is there."),
        )
    ).rank("is the widget feed fresh")
    assert [r.tool.id for r in found] == ["shared/a/feed_state", "d/a/probe"]
    assert found[0].tie_break is None


def test_sums_of_floats_do_not_break_a_tie():
    first = RankedCandidate(tool("d/a/a"), {"history": 0.0}, 0.1 + 0.2)
    second = RankedCandidate(tool("d/a/b"), {"history": 0.0}, 0.3)
    assert tie_break(first, second) == "lexicographic by filename"


@pytest.mark.parametrize("request_text", ["is the widget feed fresh", "widget feed"])
def test_a_domain_tool_beats_a_shared_tool_with_the_same_docstring(request_text):
    told = "Report whether a widget feed is fresh."
    twins = (tool("web/checks/ping_site", told), tool("shared/checks/ping_page", told))
    first, second = Ranker.build((*twins, *CATALOGUE)).rank(request_text)[:2]
    # Alone, the shared tool's shorter name gives it the better score.
    assert first.score < second.score
    assert (first.tool.id, first.tie_break) == (
        "web/checks/ping_site",
        "domain tool over shared tool",
    )
    assert second.why_not == (
        "web/checks/ping_site is before it: domain tool over shared tool "
        f"(scores {first.score:.3f} and {second.score:.3f} count as equal)"
    )


def test_without_a_tolerance_only_equal_scores_tie():
    told = "Report whether a widget feed is fresh."
    twins = (tool("web/checks/ping_site", told), tool("shared/checks/ping_page", told))
    config = RankerConfig(tie_tolerance=0.0)
    first, *_ = Ranker.build((*twins, *CATALOGUE), config).rank("widget feed")
    assert (first.tool.id, first.tie_break) == ("shared/checks/ping_page", None)


def test_near_scores_tie_for_the_first_place_only():
    found = INDEX.rank("show usage")
    scores = [r.score for r in found]
    assert scores[1:] == sorted(scores[1:], reverse=True)


def test_a_named_tool_ties_only_with_other_named_tools():
    class At:
        def __init__(self, named, score):
            self.order = (not named, -int(score * 1e9), False, 0)

    found = [At(True, 0.5), At(True, 0.495), At(False, 0.499), At(False, 0.3)]
    assert end_of_tie(found, 0, 0.01) == 2
    assert end_of_tie(found, 2, 0.01) == 3


ACCOUNTS = tool("system/users/accounts", "List the accounts.", intents=("who can log in", "users"))
LOGS = tool("logs/search/log_search", "Search a log: log lines, log files.", intents=("logs",))
PHRASES = Ranker.build((ACCOUNTS, LOGS, *CATALOGUE))


@pytest.mark.parametrize("request_text", ["who can log in", "Who can log in?", "who can log-in"])
def test_a_request_that_is_an_intent_word_for_word_finds_its_tool(request_text):
    best, second, *_ = PHRASES.rank(request_text)
    assert (best.tool.id, best.phrased, best.p) == ("system/users/accounts", True, 0.97)
    assert best.score < second.score or second.tool.id != "logs/search/log_search"
    assert second.why_not == "system/users/accounts is before it: the request is one of its intents"


@pytest.mark.parametrize("request_text", ["who can log in here", "log in", "search logs"])
def test_part_of_an_intent_or_more_is_no_intent(request_text):
    assert not any(r.phrased for r in PHRASES.rank(request_text))


NGINX = tool("services/status/nginx_health", "Probe nginx.", intents=("is nginx running",))
SERVICES = replace(
    tool("services/status/units", "Show the units.", intents=("is nginx running",)),
    args=(ArgSpec("name", "str", False, "''", "Only services whose name contains this."),),
)
JOBS = tool(
    "services/schedule/cron_jobs", "List the cron jobs that are running.", intents=("cron",)
)
STATES = Ranker.build((SERVICES, JOBS, *CATALOGUE))


@pytest.mark.parametrize(
    "request_text", ["is cron running", "is @cron running?", "is the cron service running"]
)
def test_a_service_named_like_the_word_of_another_tool_is_still_a_service(request_text):
    best = STATES.rank(request_text)[0]
    assert (best.tool.id, best.phrased) == ("services/status/units", True)


def test_a_tool_for_one_service_is_not_selected_for_another():
    found = Ranker.build((NGINX, JOBS, *CATALOGUE)).rank("is postgres running")
    assert not any(r.phrased for r in found)


@pytest.mark.parametrize("request_text", ["which cron jobs are running", "is it running", "cron"])
def test_a_request_that_names_no_service_is_no_question_for_its_state(request_text):
    found = STATES.rank(request_text)
    assert not any(r.phrased for r in found if r.tool.id == "services/status/units")


def test_two_tools_with_the_same_intent_share_its_p():
    other = tool("a/b/people", "List the people.", intents=("who can log in",))
    first, second, *_ = Ranker.build((ACCOUNTS, other, *CATALOGUE)).rank("who can log in")
    assert first.phrased
    assert second.phrased
    assert first.p < 0.6


def test_an_intent_of_a_tool_at_odds_with_the_request_does_not_count():
    careful = tool(
        "a/b/keeper",
        "Delete old files.",
        intents=("delete files",),
        anti_intents=("delete files",),
    )
    found = Ranker.build((careful, *CATALOGUE)).rank("delete files")
    assert not any(r.phrased for r in found)


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_a_past_run_of_the_same_request_says_more_than_an_intent(value):
    class Past:
        known = 1.0

        def recall(self, text):
            vote = Vote("Who can log in", 1.0, value)
            return {"logs/search/log_search": PastVotes(value, (vote,))}

    index = Ranker.build((ACCOUNTS, LOGS, *CATALOGUE), memory=Past())
    assert not any(r.phrased for r in index.rank("who can log in"))


@pytest.mark.parametrize("request_text", ["open ports on bastion", "open ports at bastion"])
def test_the_name_of_a_machine_is_no_word_that_a_tool_lacks(request_text):
    best = INDEX.rank(request_text)[0]
    assert best.tool.id == "network/ports/listening_ports"
    assert best.signals["coverage"] == pytest.approx(1.0)
    assert best.unmatched == ()


@pytest.mark.parametrize(
    "request_text", ["bastion", "on bastion", "open bastion ports", "ports and bastion"]
)
def test_an_unknown_word_elsewhere_still_counts(request_text):
    assert "bastion" in {t.word for t in request_terms(request_text, INDEX.documents, {})}


def test_the_ranking_names_the_tie_break_that_decided():
    twins = (tool("d/a/scan_probe", "Ping a host."), tool("d/a/probe_scan", "Ping a host."))
    best, other, *_ = Ranker.build((*twins, *CATALOGUE)).rank("ping")
    assert (best.tool.id, best.score) == ("d/a/probe_scan", other.score)
    assert best.tie_break == "lexicographic by filename"
    assert other.why_not == "d/a/probe_scan is before it: lexicographic by filename"


def test_the_right_tool_is_sure_and_the_rest_are_not():
    best, second, *_ = INDEX.rank("list the largest files in a folder")
    assert best.p > 0.6 > second.p


def test_a_request_nothing_fits_stays_below_tau():
    for request in ("book a flight to paris", "write a poem", "translate this to french"):
        assert all(found.p < 0.6 for found in INDEX.rank(request))


@pytest.mark.parametrize(
    "request_text", ["storage/usage/disk_usage", "disk_usage", "disk_usage.py"]
)
def test_a_tool_named_in_the_request_is_first_and_sure(request_text):
    best = INDEX.rank(f"run {request_text} for the memory summary of open ports")[0]
    assert best.tool.id == "storage/usage/disk_usage"
    assert best.p > 0.9


def test_a_read_tool_does_not_answer_a_request_for_a_change():
    best = INDEX.rank("delete the largest files")[0]
    assert best.tool.id != "storage/usage/biggest_files" or best.p < 0.6
    shown = next(r for r in INDEX.rank("delete the largest files") if "biggest" in r.tool.id)
    assert shown.caution == "the request asks to delete, the tool only reads"


def test_a_tool_that_changes_things_does_not_answer_a_question():
    shown = {r.tool.id: r for r in INDEX.rank("which files are older than some days")}
    assert shown["storage/clean/delete_old_files"].caution
    assert shown["storage/clean/delete_old_files"].p < 0.6


def test_the_tool_that_makes_the_change_is_chosen():
    best = INDEX.rank("restart the service")[0]
    assert (best.tool.id, best.caution) == ("services/control/restart_service", None)


def test_anti_intents_subtract():
    plain = tool("a/b/matrix_stats", "Summary of a matrix.")
    refusing = tool("a/b/matrix_stats", "Summary of a matrix.", anti_intents=("plot",))
    docs = [
        Ranker.build((t, *CATALOGUE)).rank("plot a matrix", include=(t.id,), tools=(t.id,))[0]
        for t in (plain, refusing)
    ]
    assert docs[1].features["doc"] < docs[0].features["doc"]


def test_manifest_intents_add():
    hinted = tool("a/b/thing", "Does it.", intents=("fragmentation",))
    found = Ranker.build((hinted, *CATALOGUE)).rank("fragmentation")
    assert found[0].tool.id == "a/b/thing"
    assert found[0].matched == {"manifest": ("fragmentation",)}


def test_matched_says_which_word_stands_where():
    matched = INDEX.rank("largest files in a folder")[0].matched
    assert matched["name"] == ("files",)
    assert matched["doc"] == ("largest", "files", "folder")
    assert matched["args"] == ("folder",)


def test_why_not_names_the_widest_gap_or_the_tie_break():
    losers = INDEX.rank("disk usage")[1:]
    assert losers
    assert all("storage/usage/disk_usage" in (found.why_not or "") for found in losers)


def test_good_history_decides_between_equals():
    twins = (tool("d/a/one", "Ping a host."), tool("d/a/two", "Ping a host."))
    index = Ranker.build((*twins, *CATALOGUE))
    past = {"d/a/two": ToolHistory("d/a/two", 1, 5, 0, NOW - timedelta(days=1))}
    assert index.rank("ping")[0].tool.id == "d/a/one"
    assert index.rank("ping", history=past, now=NOW)[0].tool.id == "d/a/two"


def test_history_without_a_clock_is_refused():
    past = {"a/b/c": ToolHistory("a/b/c", 1, 0, 0, NOW)}
    with pytest.raises(ValueError, match="now"):
        INDEX.rank("disk", history=past)


def test_a_pool_keeps_p_of_the_whole_catalogue():
    inside = {"memory/usage/memory_summary"}
    whole = {r.tool.id: r.p for r in INDEX.rank("disk usage", limit=50)}
    (only,) = INDEX.rank("disk usage", tools=inside)
    assert (only.rank, only.p) == (1, whole["memory/usage/memory_summary"])
    assert only.p < 0.6


def test_limit_and_include():
    found = INDEX.rank("list files", limit=1, include=("web/tls/certificate_expiry",))
    assert [r.tool.id for r in found][-1] == "web/tls/certificate_expiry"
    assert len(found) == 2


class Shouting:
    name = "shouting"

    def __call__(self, intent, tool):
        return 7.0 if tool.id == "web/tls/certificate_expiry" else 0.0


def test_a_plugin_feature_is_shown_and_weighs_nothing_until_configured():
    index = Ranker.build(CATALOGUE, features=[Shouting()])
    found = index.rank("disk usage", include=("web/tls/certificate_expiry",))
    assert found[0].tool.id == "storage/usage/disk_usage"
    assert found[0].weights["shouting"] == 0.0
    assert found[-1].features["shouting"] == 1.0


def test_a_weighted_plugin_feature_counts_even_without_a_shared_word():
    config = RankerConfig(weights={"name": 0.1, "doc": 0.1, "history": 0.0, "shouting": 0.8})
    found = Ranker.build(CATALOGUE, config, features=[Shouting()]).rank("full filesystems")
    assert found[0].tool.id == "web/tls/certificate_expiry"


def test_two_features_of_one_name_are_refused():
    with pytest.raises(ValueError, match="shouting"):
        Ranker.build(CATALOGUE, features=[Shouting(), Shouting()])


def test_a_request_that_says_a_whole_anti_intent_is_not_sure_of_that_tool():
    declined = tool("media/convert/convert_video", "Convert a video.", anti_intents=("to audio",))
    index = Ranker.build((declined, *CATALOGUE))
    assert index.rank("convert a video")[0].p > 0.5
    best = index.rank("convert a video, only the audio")[0]
    assert best.p <= 0.5
    assert best.caution == "the tool's manifest says it is not for 'to audio'"


def factors(index, text):
    return {term.word: term.factor for term in request_terms(text, index.documents, {})}


def test_a_way_of_asking_counts_less_than_what_is_asked():
    said = factors(INDEX, "check the memory")
    assert said["check"] < said["memory"] == 1.0
    assert factors(INDEX, "check") == {"check": 1.0}


def test_a_way_of_asking_counts_in_full_where_a_tool_is_called_that():
    index = Ranker.build((tool("a/b/find", "Walk a folder."), *CATALOGUE))
    assert factors(index, "find the folder")["find"] == 1.0


def test_a_tool_ranked_without_leaves_no_trace_in_the_others():
    best, *_ = INDEX.rank("how full are the filesystems")
    rest = INDEX.rank("how full are the filesystems", without=(best.tool.id,))
    assert best.tool.id not in {r.tool.id for r in rest}
    assert all(r.signals["margin"] >= 0 for r in rest[:1])
    assert max((r.features["doc"] for r in rest), default=1.0) == 1.0


class Meaning:
    def similar(self, text):
        return {n: float(t.id.endswith("cron_jobs")) for n, t in enumerate(INDEX.tools)}


def test_a_tool_of_like_meaning_is_found_without_a_shared_word():
    found = replace(INDEX, dense=Meaning()).rank("what runs every night")
    assert found[0].tool.id == "services/schedule/cron_jobs"
    assert found[0].features["doc"] > 0.5


def test_the_more_tools_there_are_the_less_meaning_decides_beside_words():
    shares = [dense_share(size) for size in (0, 1, 200, 1_000, 10_000, 100_000)]
    assert shares[0] == shares[1] == shares[2]
    assert shares[2:] == sorted(shares[2:], reverse=True)
    assert 0.3 < shares[-1] < shares[0] < 1


class Past:
    known = 1.0

    def recall(self, text):
        votes = (Vote("is it up", 0.9, 1.0),)
        return {"services/status/service_status": PastVotes(0.9, votes), "gone/a/b": PastVotes(1.0)}


def test_past_requests_find_a_tool_and_are_shown():
    found = replace(INDEX, memory=Past()).rank("qwertz")
    assert [r.tool.id for r in found] == ["services/status/service_status"]
    assert (found[0].features["history"], found[0].votes[0].request) == (0.9, "is it up")
