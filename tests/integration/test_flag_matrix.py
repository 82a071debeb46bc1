"""The behaviour matrix of routing spec §12.

Each combination of flags has its phases, promotions, output and exit status. The tests read the
trace and the catalogue too, and not the output alone.
"""

from dataclasses import dataclass

import pytest

from tests.project import CHAINED, COMPOSE, COUNT, NOTHING, make, phases, pulsus_here, records
from tests.sandboxes import need_sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.seconds]

MISSED = ["start", "parse", "discover", "rank", "decide"]
"""No tool: nothing to fill."""
LOOKED = [*MISSED, "fill"]
PROVEN = [*LOOKED, "validate"]
PROMOTED = [*PROVEN, "promote"]

SUMMARY = "[PULSUS] domain="
FEATURES = "[PULSUS] weights: name=0.40 doc=0.40 history=0.20  τ=0.60"
REPORT = ": accepted (proof: "
PLAN = "plan:\n  description: "
UNSURE = {"PULSUS_PARSER__CONFIDENCE_THRESHOLD": "1"}
STRICT = {"PULSUS_RANKER__THRESHOLD": "1"}
BROKEN = "convert an amount of money to another currency"
OVERLAYS = {BROKEN: ["wrong_types"], CHAINED: ["chained"]}


@dataclass(frozen=True)
class Row:
    """The result of one flag combination. `shows` are parts of stdout; the others are absent."""

    flags: str
    stages: list
    promoted: int
    shows: tuple
    code: int
    request: str = COUNT
    env: tuple = ()
    error: str = ""

    @property
    def name(self):
        """The row's id."""
        kind = {
            COUNT: "",
            CHAINED: "chained ",
            COMPOSE: "compose ",
            NOTHING: "nothing ",
            BROKEN: "refused ",
        }
        extra = " ".join(f"{k.rpartition('_')[2].lower()}={v}" for k, v in self.env)
        return f"{kind[self.request]}{self.flags or 'no flag'} {extra}".strip()


def rows():
    yield Row("", PROVEN, 0, (SUMMARY,), 4, error="APPROVAL_REQUIRED")
    yield Row("--dry-run", PROVEN, 0, (SUMMARY, REPORT, PLAN), 0)
    yield Row("--non-interactive", PROMOTED, 1, (SUMMARY,), 0)
    yield Row("--explain", LOOKED, 0, (FEATURES, SUMMARY), 0)
    yield Row("--plan", LOOKED, 0, (PLAN,), 0)
    yield Row("--plan --explain", LOOKED, 0, (FEATURES, PLAN), 0)
    yield Row("--plan --dry-run", LOOKED, 0, (PLAN,), 0)
    yield Row("--plan --non-interactive", LOOKED, 0, (PLAN,), 0)
    yield Row("--explain --dry-run", PROVEN, 0, (FEATURES, SUMMARY, REPORT, PLAN), 0)
    yield Row("--explain --non-interactive", PROMOTED, 1, (FEATURES, SUMMARY), 0)
    yield Row("--dry-run --non-interactive", PROVEN, 0, (SUMMARY, REPORT, PLAN), 0)
    yield Row("--no-rag --non-interactive", PROMOTED, 1, (SUMMARY,), 0)
    yield Row("--run --non-interactive --input text=a", [*PROMOTED, "run"], 1, (SUMMARY,), 0)
    yield Row("--run --input text=a", PROVEN, 0, (SUMMARY,), 4, error="APPROVAL_REQUIRED")
    yield Row("", PROMOTED, 1, (SUMMARY,), 0, env=(("PULSUS_NON_INTERACTIVE", "1"),))
    yield Row("--plan", LOOKED, 0, (PLAN,), 0, COMPOSE)
    yield Row("--explain", LOOKED, 0, (FEATURES, SUMMARY), 0, COMPOSE)
    yield Row("--dry-run", PROVEN, 0, (SUMMARY, REPORT, PLAN), 0, COMPOSE)
    yield Row("--non-interactive", PROVEN, 0, (SUMMARY,), 4, COMPOSE, error="APPROVAL_REQUIRED")
    yield Row("--non-interactive", PROMOTED, 1, (SUMMARY,), 0, CHAINED)
    for flags, shows in (
        ("", (SUMMARY,)),
        ("--dry-run", (SUMMARY,)),
        ("--non-interactive", (SUMMARY,)),
        ("--explain", (FEATURES, SUMMARY)),
        ("--plan", ()),
    ):
        yield Row(flags, MISSED, 0, shows, 5, NOTHING, error="LLM_NOT_CONFIGURED")
    yield Row("--non-interactive", PROVEN, 0, (SUMMARY,), 3, BROKEN, error="VALIDATION_FAILED")
    yield Row("--dry-run", PROVEN, 0, (SUMMARY, PLAN), 3, BROKEN, error="VALIDATION_FAILED")
    yield Row("--plan", LOOKED, 0, (PLAN,), 0, BROKEN)
    unsure = tuple(UNSURE.items())
    yield Row("--non-interactive", PROVEN, 0, (SUMMARY,), 4, env=unsure, error="LOW_CONFIDENCE")
    yield Row("--dry-run", PROVEN, 0, (SUMMARY, REPORT, PLAN), 0, env=unsure)
    yield Row("--explain", LOOKED, 0, (FEATURES, SUMMARY), 0, env=unsure)


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row.name)
def test_the_flags_behave_as_the_matrix_says(row, tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project", *OVERLAYS.get(row.request, ()))
    done = pulsus_here(folder, "route", row.request, *row.flags.split(), env=dict(row.env))
    assert done.code == row.code, done.err
    assert phases(folder) == [*row.stages, "end"]
    assert len(records(folder)) == row.promoted
    runs = "--run" in row.flags
    status = done.err if runs else done.out
    assert {part for part in (SUMMARY, FEATURES, REPORT, PLAN) if part in status} == set(row.shows)
    assert not runs or "[PULSUS]" not in done.out
    assert (f"[{row.error}]" in done.err) == bool(row.error)


def test_no_tool_above_tau_differs_from_a_clarification(tmp_path):
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "route", COUNT, "--non-interactive", env=STRICT)
    assert (done.code, records(folder)) == (5, [])


@pytest.mark.parametrize(
    ("flags", "kept"), [(["--cache"], True), (["--no-cache"], False), ([], True)], ids=str
)
def test_the_discovery_index_is_kept_unless_it_is_turned_off(flags, kept, tmp_path):
    folder = make(tmp_path / "project", warm=False)
    done = pulsus_here(folder, "route", COUNT, "--plan", *flags)
    assert done.code == 0
    assert (folder / ".pulsus/index/discovery.idx").exists() == kept
    assert pulsus_here(folder, "route", COUNT, "--plan").out == done.out


@pytest.mark.parametrize("flag", ["--run --plan", "--run --dry-run"])
def test_a_flag_that_cannot_be_honoured_stops_before_the_first_stage(flag, tmp_path):
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "route", COUNT, *flag.split())
    assert done.code == 2
    assert done.out == ""
    assert "hint:" in done.err
    assert not (folder / "logs").exists()


def test_a_promoted_tool_is_proven_again_and_left_as_it_is(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project")
    before = [pulsus_here(folder, "route", COUNT, "--non-interactive").code, records(folder)]
    done = pulsus_here(folder, "route", COUNT, "--non-interactive", "--output", "json")
    assert done.json["promotion"] is None
    assert done.json["validation"]["ok"]
    assert [done.code, records(folder)] == before


def test_without_non_interactive_a_promoted_tool_needs_no_approval(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project")
    pulsus_here(folder, "route", COUNT, "--non-interactive")
    assert pulsus_here(folder, "route", COUNT).code == 0


def test_a_composition_with_a_refused_step_is_neither_promoted_nor_run(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project", "rows", "chained")
    step = folder / "workflows/shared_tools/report/markdown_table.py"
    wrong = step.read_text(encoding="utf-8").replace("| sda | 7 |", "| sda | 8 |")
    step.write_text(wrong, encoding="utf-8")
    given = ("--input", "rows=@rows.json", "--input", "column=used")
    done = pulsus_here(folder, "route", CHAINED, "--run", "--non-interactive", *given)
    assert done.code == 3
    assert "markdown_table.py is refused" in done.err
    assert [r["name"] for r in records(folder)] == ["top_rows.py"]
    assert "run" not in phases(folder)


def test_a_run_without_approval_promotes_no_step(tmp_path):
    need_sandbox()
    folder = make(tmp_path / "project")
    done = pulsus_here(folder, "route", COMPOSE, "--run", "--input", "df:=[[1]]")
    assert (done.code, records(folder)) == (4, [])
