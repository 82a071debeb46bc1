"""Memory tool on real and old-style counters."""

import pytest

TOOL = "memory/usage/memory_summary"


def counters(tmp_path, text):
    path = tmp_path / "meminfo"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_this_machine_has_memory_and_the_figures_fit_together(load):
    result = load(TOOL).run()
    ram, swap = result["rows"]
    assert ram["total_bytes"] > 0
    assert ram["used_bytes"] + result["available_bytes"] == ram["total_bytes"]
    assert swap["used_bytes"] + swap["free_bytes"] == swap["total_bytes"]


def test_an_old_kernel_without_available_gets_an_estimate(load, tmp_path):
    path = counters(
        tmp_path,
        "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 250 kB\nHugePages_Total: 0\n",
    )
    result = load(TOOL).run(meminfo=path)
    assert result["available_estimated"] is True
    assert result["available_bytes"] == 400 * 1024
    assert result["rows"][0]["used_percent"] == 60.0


def test_a_machine_without_swap_is_not_above_any_limit(load, tmp_path):
    path = counters(tmp_path, "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 900 kB\n")
    result = load(TOOL).run(limit_percent=0.0, meminfo=path)
    assert result["rows"][1]["used_percent"] == 0.0
    assert result["above"] == ["ram"]


def test_huge_numbers_and_broken_lines_are_survived(load, tmp_path):
    path = counters(
        tmp_path,
        f"MemTotal: {1 << 60} kB\nMemFree: {1 << 59} kB\nMemAvailable: {1 << 59} kB\n"
        "garbage\nCached: many kB\nShmem: 5 kB\n",
    )
    result = load(TOOL).run(meminfo=path)
    assert result["rows"][0]["total_bytes"] == 1 << 70
    assert result["rows"][0]["used_percent"] == 50.0
    assert result["cached_bytes"] == 0


@pytest.mark.parametrize("text", ["", "hello", "MemTotal: 0 kB\nMemFree: 0 kB\n"])
def test_a_file_that_is_no_meminfo_is_refused_with_the_fix(load, tmp_path, text):
    with pytest.raises(ValueError, match="give /proc/meminfo"):
        load(TOOL).run(meminfo=counters(tmp_path, text))


def test_a_limit_beyond_100_percent_is_refused(load):
    with pytest.raises(ValueError, match=r"101.*give 0 to 100"):
        load(TOOL).run(limit_percent=101)


def test_a_missing_file_raises_the_oserror_itself(load, tmp_path):
    with pytest.raises(FileNotFoundError):
        load(TOOL).run(meminfo=str(tmp_path / "absent"))
