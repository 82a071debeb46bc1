"""`pulsus place`: a placement plan for a cluster, or the check of one.

The placement, and its time limit, are those of `placement/placement_planner.py`; a plan is checked
in `placement/plan_checker.py`. `cli/place/placement_text.py` prints why a placement is infeasible.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common
from pulsus.errors import UsageError

if TYPE_CHECKING:
    from pulsus.placement.cluster import Cluster

EPILOG = page_end(
    "pulsus place cluster.json",
    "pulsus place cluster.json --drain pve3 --output json > plan.json",
    "pulsus place --facts facts.yaml --drain pve3",
    "pulsus place --check cluster.json plan.json --drain pve3",
    notes=(
        """A CLUSTER.json (docs/placement.md of Pulsus has every key):
  {"hosts": [{"name": "pve1", "ram_mib": 65536, "cpu_mc": 32000},
             {"name": "pve2", "ram_mib": 65536, "cpu_mc": 32000},
             {"name": "pve3", "ram_mib": 65536, "cpu_mc": 32000}],
   "vms": [{"vmid": 101, "ram_mib": 16384, "cpu_mc": 4000, "host": "pve1"},
           {"vmid": 102, "ram_mib": 32768, "cpu_mc": 8000, "host": "pve3"}]}""",
        "A facts file: `pulsus kb --help` shows one.",
    ),
    exits={
        0: "optimal or feasible; the check found no violation",
        1: "infeasible, no plan in time, a violation, or facts that lack a figure",
        2: "usage, settings, or an invalid file",
    },
)


@click.command(epilog=EPILOG)
@click.argument(
    "files", nargs=-1, metavar="[CLUSTER.json] [PLAN.json]", type=click.Path(path_type=Path)
)
@click.option(
    "--facts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the cluster from a facts file of `pulsus kb`, in place of CLUSTER.json; repeatable.",
)
@click.option("--check", is_flag=True, help="Check PLAN.json against the cluster; plan nothing.")
@click.option(
    "--drain", "drains", multiple=True, metavar="HOST", help="Empty this host; repeatable."
)
@click.option(
    "--what-if",
    "changes",
    multiple=True,
    metavar="TEXT",
    help='Change the cluster first, for example "add host pve9 ram 65536 cpu 32000"; repeatable.',
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0.1, max=3600),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Seconds for the whole search.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of the search.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg",
    help="Also write the load before and after as a picture.",
)
@common(searches=False)
def command(
    session: CommandSession,
    files: tuple[Path, ...],
    facts: tuple[Path, ...],
    check: bool,
    drains: tuple[str, ...],
    changes: tuple[str, ...],
    time_limit: float,
    seed: int,
    plot: Path | None,
) -> None:
    """Plan which virtual machine runs on which host, in an order that can be executed.

    CLUSTER.json lists hosts, virtual machines and groups, and --check also takes PLAN.json. Nothing
    is moved. No step of the plan overloads a host or breaks a rule (RAM, CPU, reserved space, fixed
    hosts, HA groups); a machine that migrates counts on both hosts.

    The best plan leaves the fewest machines without a host, then breaks the fewest soft rules,
    then has the fewest moves, and then moves the fewest MiB.
    """
    from pulsus.placement.what_if import apply_change

    if plot and plot.suffix.lower() != ".svg":
        if not plot.name:
            raise UsageError("--plot '': the picture needs a file name", hint="--plot load.svg")
        raise UsageError(
            f"--plot {str(plot)!r}: the picture is an SVG file",
            hint=f"--plot {shlex.quote(str(plot.with_suffix('.svg')))}",
        )
    if plot:
        _require_own_or_new(plot)
    needed = (not facts) + check
    if len(files) != needed:
        raise UsageError(
            f"{console.counted(len(files), 'file')} given, {needed} needed: "
            f"{'a plan' if facts else 'a cluster and a plan' if check else 'a cluster'}"
            if needed
            else f"{str(files[0])!r} and --facts are given, and both name a cluster",
            hint="pulsus place CLUSTER.json, or pulsus place --facts FILE; "
            "with --check, PLAN.json is the last file",
        )
    cluster = _facts_cluster(session, facts, changes) if facts else _file_cluster(files[0])
    for host in drains:
        if not cluster.host_named(host):
            known = ", ".join(each.name for each in cluster.hosts[:10])
            raise UsageError(
                f"--drain {host!r}: there is no such host", hint=f"the hosts are {known}", host=host
            )
        cluster = apply_change(cluster, f"drain {host}")
    for change in changes:
        cluster = apply_change(cluster, change)
    if check:
        _check(session, cluster, files[-1])
        return
    _plan(session, cluster, time_limit, seed, plot)


def _require_own_or_new(plot: Path) -> None:
    """Raise UsageError for a file that is no picture of a plan, which one would destroy."""
    from pulsus.core.system.regular_files import require_own_or_new
    from pulsus.placement.load_picture import picture_objection

    require_own_or_new(plot, "picture", picture_objection)


def _file_cluster(path: Path) -> Cluster:
    from pulsus.placement.cluster_file import load_cluster

    return load_cluster(path)


def _facts_cluster(
    session: CommandSession, files: tuple[Path, ...], changes: tuple[str, ...]
) -> Cluster:
    from pulsus.placement.cluster_from_facts import cluster_of_facts, notes_on_omitted_nodes
    from pulsus.placement.what_if import REMOVE_RACKS

    knowledge = session.app.knowledge
    view = knowledge.view_of(knowledge.load(files))
    # Facts that lack the rack of a node are enough if racks are to be left out anyway.
    without = any(" ".join(change.split()) == REMOVE_RACKS for change in changes)
    # With --facts no other source counts, so a missing fact has to be added to one of these files.
    where = " or ".join(map(str, files))
    cluster = cluster_of_facts(view._replace(use_racks=False) if without else view, where=where)
    if session.verbosity >= 0:
        for text in notes_on_omitted_nodes(view, where):
            console.note(f"note: {text}")
    return cluster


def _check(session: CommandSession, cluster: Cluster, path: Path) -> None:
    from pulsus.placement.placement_plan_file import load_plan
    from pulsus.placement.plan_checker import check_plan

    actions, unplaced = load_plan(path)
    found = check_plan(cluster, actions, unplaced)
    if session.json:
        from pulsus.cli.place.placement_json import certificate_json

        console.document({"ok": found.ok, "certificate": certificate_json(found)})
    else:
        for each in found.violations:
            click.echo(f"{f'step {each.step}' if each.step else 'at the end'}: {each.reason}")
        steps = console.counted(found.steps_checked, "step")
        click.echo(f"{steps} checked: {console.counted(len(found.violations), 'violation')}")
    raise SystemExit(0 if found.ok else 1)


def _plan(
    session: CommandSession, cluster: Cluster, time_limit: float, seed: int, plot: Path | None
) -> None:
    from pulsus.placement.placement_planner import PlanRequest, plan_placement

    plan = plan_placement(cluster, PlanRequest(seed=seed, time_limit_s=time_limit))
    if plot:
        from pulsus.core.system import atomic_write
        from pulsus.placement.load_picture import load_svg

        _require_own_or_new(plot)  # the search takes its time
        atomic_write.write_bytes(plot, load_svg(plan.ram_shares).encode("utf-8"))
        console.note(f"drawn: {plot}")
    if session.json:
        from pulsus.cli.place.placement_json import placement_json

        console.document(placement_json(plan))
    else:
        from pulsus.cli.place.placement_text import placement_lines

        for line in placement_lines(plan):
            click.echo(line)
    raise SystemExit(0 if plan.status in ("optimal", "feasible") else 1)
