"""Past requests: what they say of a tool, kept as a file or counted anew (ADR 16)."""

from dataclasses import replace

import pytest

from pulsus.core.memory.index_file import KIND, from_content, to_bytes
from pulsus.core.memory.recall import PastMemory
from pulsus.core.memory.request_index import PastRequest, RequestSegment, WordCounts
from pulsus.core.rankers.history_feature import history_value
from pulsus.core.system import cache_file
from pulsus.core.system.cache_file import DamagedCache
from pulsus.core.text.phrases import phrases

DAY = 86_400.0
NOW = 1_000 * DAY
PAST = (
    PastRequest("how full are the disks", ("storage/usage/disk_usage",)),
    PastRequest("show the biggest files", ("storage/usage/biggest_files",), at=NOW),
    PastRequest("list files larger than a gigabyte", ("storage/usage/biggest_files",), at=NOW),
    PastRequest("which services are down", ("services/status/service_status",), at=NOW),
)


def remembered(*past, tools=3, now=NOW, counts=None):
    counts = counts or WordCounts.of(past, tools)
    return PastMemory(counts, (RequestSegment.of(past, counts, 90 * DAY),), now)


def test_a_request_made_before_speaks_for_its_tool_most():
    found = remembered(*PAST).recall("how full are the disks")
    best = max(found, key=lambda tool: found[tool].value)
    assert best == "storage/usage/disk_usage"
    assert found[best].value > 0.9
    assert found[best].text > 0.9
    assert found[best].votes[0].request == "how full are the disks"
    assert found[best].votes[0].similarity == 1.0


def test_a_request_unlike_all_others_recalls_nothing():
    assert remembered(*PAST).recall("bake a sourdough loaf") == {}
    assert remembered(*PAST).recall("") == {}
    assert remembered().recall("anything") == {}


def test_every_tool_of_a_past_request_is_spoken_for():
    found = remembered(PastRequest("copy and compress", ("a/b/cp", "a/b/gzip"))).recall(
        "copy, compress"
    )
    assert set(found) == {"a/b/cp", "a/b/gzip"}


def test_a_tool_that_was_wrong_is_spoken_against():
    past = (
        *PAST,
        PastRequest("how full are the disks", (), ("storage/usage/biggest_files",), at=NOW),
    )
    found = remembered(*past).recall("how full are the disks")
    assert found["storage/usage/biggest_files"].value < 0
    assert found["storage/usage/biggest_files"].votes[0].weight < 0


def test_what_is_old_counts_less_and_a_manifest_s_request_never_fades():
    old = replace(PAST[1], at=NOW - 900 * DAY)
    text = "show the biggest files"
    fresh, faded = (
        remembered(r).recall(text)["storage/usage/biggest_files"] for r in (PAST[1], old)
    )
    assert faded.value < 0.1 < 0.9 < fresh.value
    assert faded.text < 0.1 * fresh.text
    kept = remembered(replace(old, at=None)).recall(text)["storage/usage/biggest_files"]
    assert kept.value == pytest.approx(fresh.value)


def test_a_request_made_a_thousand_times_does_not_drown_a_better_match():
    often = [PastRequest("show the biggest log", ("a/b/wrong",), at=NOW)] * 1000
    found = remembered(*often, PAST[1]).recall("show the biggest files")
    assert found["storage/usage/biggest_files"].value > found["a/b/wrong"].value


def test_words_count_less_where_few_tools_have_a_past():
    all_known = remembered(*PAST, tools=3).recall("biggest files")
    few_known = remembered(*PAST, tools=300).recall("biggest files")
    tool = "storage/usage/biggest_files"
    assert few_known[tool].text == pytest.approx(all_known[tool].text / 100)


def test_a_value_is_remembered_as_its_kind():
    found = remembered(PastRequest("unpack /tmp/old.tar.gz", ("a/b/unpack",))).recall("new.tgz")
    assert found["a/b/unpack"].text > 0


@pytest.mark.parametrize("again", ["mount /dev/sdc1 /data", "mount /dev/nvme0n1p2 /srv/weekly"])
def test_a_request_that_differs_in_its_values_alone_is_remembered_as_the_same(again):
    told = PastRequest("mount /dev/sdb1 /mnt", (), ("storage/mounts/mount_table",), 2.0, NOW)
    past = (*PAST, PastRequest("what is mounted on /data", ("storage/mounts/mount_table",)), told)
    found = remembered(*past).recall(again)["storage/mounts/mount_table"]
    assert found.value < -0.3
    assert found.votes[0].request == told.request
    assert found.votes[0].similarity > 0.8


def test_a_word_in_a_path_is_not_that_word_of_another_request():
    found = remembered(PastRequest("cat /proc/mounts", ("a/b/table",)), *PAST).recall("mounts")
    assert found["a/b/table"].value == 0
    assert found["a/b/table"].text > 0


def test_feedback_on_one_request_leaves_a_neighbour_that_is_remembered_itself():
    check, digest = "security/integrity/verify_checksums", "shared/hash/hash_file"
    told = PastRequest("sha256sum release.tar.gz", (digest,), (check,), 2.0, NOW)
    found = remembered(PastRequest("sha256sum -c SHA256SUMS", (check,)), told).recall(
        "sha256sum -c SHA256SUMS"
    )
    assert found[check].value > 0.9
    assert found[digest].value <= 0
    assert remembered(told).recall("sha256sum -c SHA256SUMS")[digest].value > 0.5


def test_what_a_request_of_the_same_words_decides_fades_with_it():
    old = PastRequest("show the biggest files", ("a/b/old",), at=NOW - 900 * DAY)
    found = remembered(
        old, PastRequest("show the biggest file there", ("a/b/new",), at=NOW)
    ).recall("show the biggest files")
    assert found["a/b/new"].value > found["a/b/old"].value


def test_a_kept_memory_equals_one_made_anew():
    memory = remembered(*PAST)
    data = to_bytes(memory.counts, memory.segments[0], {"rows": 4})
    counts, segment, told = from_content(cache_file.unpack(data, KIND))
    assert told == {"rows": 4}
    for text in ("show the biggest files", "which disks are full", "services down"):
        assert PastMemory(counts, (segment,), NOW).recall(text) == memory.recall(text)


@pytest.mark.parametrize("cut", [0, 1, 20, -1, -40])
def test_a_damaged_file_is_no_memory(cut):
    memory = remembered(*PAST)
    data = to_bytes(memory.counts, memory.segments[0], {})
    for damaged in (data[:cut], data[: len(data) // 2] + b"x" + data[len(data) // 2 + 1 :]):
        with pytest.raises(DamagedCache):
            cache_file.unpack(damaged, KIND)


def test_requests_that_came_since_are_remembered_as_if_counted_together():
    counts = WordCounts.of(PAST[:2], 3)
    parts = PastMemory(
        counts,
        (
            RequestSegment.of(PAST[:2], counts, 90 * DAY),
            RequestSegment.of(PAST[2:], counts, 90 * DAY),
        ),
        NOW,
    )
    whole = remembered(*PAST, counts=counts)
    for text in ("show the biggest files", "which services are down"):
        found, expected = parts.recall(text), whole.recall(text)
        assert found.keys() == expected.keys()
        for tool, recalled in found.items():
            assert recalled.value == pytest.approx(expected[tool].value)
            assert recalled.text == pytest.approx(expected[tool].text)


def test_word_weights_change_only_when_memory_has_doubled():
    for size in range(4, 8):
        more = [PastRequest(f"request number {n}", ("a/b/c",)) for n in range(size - 4)]
        assert WordCounts.of([*PAST, *more], 3) == WordCounts.of(PAST, 3)
    more = [PastRequest(f"request number {n}", ("a/b/c",)) for n in range(4)]
    assert WordCounts.of([*PAST, *more], 3) != WordCounts.of(PAST, 3)


def test_pairs_keep_the_order_and_the_small_words():
    assert set(phrases("from file to disk")) != set(phrases("from disk to file"))
    assert {p.pair for p in phrases("files")} == {False}


def test_either_votes_or_service_is_enough_and_neither_makes_it_sure():
    assert history_value(0.0, 0.0) == 0.0
    assert history_value(0.8, 0.0) == pytest.approx(0.4)
    assert history_value(0.0, 0.8) == pytest.approx(0.8)
    assert 0.8 < history_value(0.8, 0.8) < 1
    assert history_value(0.8, -0.5) == pytest.approx(0.2)
