"""`pulsus kb query|facts|explain` (contracts, "Knowledge"; docs/knowledge-base.md).

If a fact is stale (expired) is decided in `kb/facts.py`, and how many answers a query may give in
`kb/query_limits.py`. The most answers are `kb.max_answers`.
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
    from pulsus.bootstrap.knowledge import LoadedKnowledge

KINDS = ("node", "health", "link", "alert", "vm", "metric")
_EXITS = {
    0: "answered, also if no answer was found",
    1: "the query took too long",
    2: "usage, settings, an ill-formed goal, or an invalid facts file",
    6: "no predicate of that name may be asked",
}
_GOALS = (
    "\n".join(
        (
            "Predicates:",
            "  known_node(Node)                     node_health(Node, Status)",
            "  live_link(A, B, Cost)                can_reach(From, To)",
            "  live_shortest_path(From, To, Path)   active_alerts(Node, ConditionIDs)",
            "  current_vm_host(VMID, Host)          node_metric(Node, Metric, Value)",
            "  query_single_node_health(Node, Status)",
            "  gather_rag_context(Node, Context)",
        )
    ),
)
_FACTS = """A facts file (docs/knowledge-base.md of Pulsus has every key):
  nodes:
    - {name: pve1, health: nominal, ram_mib: 65536, cpu_mc: 32000}
    - {name: pve2, health: nominal, ram_mib: 65536, cpu_mc: 32000}
    - {name: pve3, health: degraded, ram_mib: 65536, cpu_mc: 32000}
  links:
    - {a: pve1, b: pve2, cost: 10}
    - {a: pve2, b: pve3, cost: 10}
  vms:
    - {vmid: 101, host: pve3, ram_mib: 16384, cpu_mc: 4000}"""
_SEE_FACTS = "A facts file: `pulsus kb --help` shows one."
GROUP = page_end(
    'pulsus kb query "node_health(Node, Status)" --facts facts.yaml',
    'pulsus kb explain "can_reach(pve1, pve3)" --facts facts.yaml',
    "pulsus kb facts --kind health --facts facts.yaml",
    notes=(_FACTS,),
)
facts_option = click.option(
    "--facts",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Use the facts of FILE (JSON or YAML) and no others; repeatable. Without it the files of "
    "kb.files, this machine and plugins count.",
)


@click.group(epilog=GROUP)
def command() -> None:
    """Ask the knowledge base about the cluster. Nothing is changed.

    Every fact has a source and an age, and one that is too old is never used.
    """


@command.command(
    epilog=page_end(
        'pulsus kb query "node_health(Node, Status)" --facts facts.yaml',
        'pulsus kb query "can_reach(pve1, To)" --facts facts.yaml --output json',
        exits=_EXITS,
        notes=(*_GOALS, _SEE_FACTS),
    )
)
@click.argument("goal")
@facts_option
@common()
def query(session: CommandSession, goal: str, files: tuple[Path, ...]) -> None:
    """Print the answers to GOAL, a question to the knowledge base.

    GOAL is one predicate of the list below, such as node_health(pve1, Status), with names, numbers
    or variables in its brackets.

    A word with a capital letter is a variable, and each answer gives its value. A name with a
    capital letter, a dot or a dash needs quotes: 'pve-1'.
    """
    from pulsus.cli.kb import fact_rows
    from pulsus.kb.goal_engine import answer, find_predicate
    from pulsus.kb.terms import parse_goal

    parsed = parse_goal(goal)
    find_predicate(parsed)  # before anything is read: a refused goal costs nothing
    loaded = _load(session, files)
    found = answer(parsed, loaded.facts, loaded.now, session.app.knowledge.limits)
    for name in found.unknown:
        console.warn(f"no fresh fact knows {name}; {_nodes_hint(files)}")
    if session.json:
        answers = [fact_rows.answer_to_dict(each) for each in found.answers]
        console.document(
            {
                "goal": goal,
                "answers": answers,
                "truncated": found.truncated,
                "unknown": [*found.unknown],
            }
        )
        return
    for each in found.answers:
        console.echo(fact_rows.answer_line(each))
    if not found.answers:
        console.echo("false")
    _tell_truncated(session, found.truncated)


@command.command(
    epilog=page_end(
        'pulsus kb explain "node_health(pve3, Status)" --facts facts.yaml',
        'pulsus kb explain "can_reach(pve1, pve3)" --facts facts.yaml',
        exits=_EXITS,
        notes=(*_GOALS, _SEE_FACTS),
    )
)
@click.argument("goal")
@facts_option
@common()
def explain(session: CommandSession, goal: str, files: tuple[Path, ...]) -> None:
    """Show why GOAL has its answers: each fact with its source and age.

    Without an answer it shows what is missing, and facts that are too old to be used.
    """
    from pulsus.cli.kb import fact_rows
    from pulsus.kb.explanation import explain_goal
    from pulsus.kb.goal_engine import find_predicate
    from pulsus.kb.terms import parse_goal

    find_predicate(parse_goal(goal))
    loaded = _load(session, files)
    found = explain_goal(goal, loaded.facts, loaded.now, session.app.knowledge.limits)
    if session.json:
        console.document(fact_rows.explanation_to_dict(found))
        return
    for line in fact_rows.explanation_lines(found):
        console.echo(line)
    _tell_truncated(session, found.truncated)


@command.command(
    epilog=page_end(
        "pulsus kb facts",
        "pulsus kb facts --kind health --node pve3 --facts facts.yaml",
        exits={0: "listed", 2: "usage, settings, or an invalid facts file"},
        notes=(_SEE_FACTS,),
    )
)
@click.option("--kind", type=click.Choice(KINDS), help="Only facts of this kind.")
@click.option("--node", metavar="NAME", help="Only facts about this node.")
@facts_option
@common()
def facts(
    session: CommandSession, kind: str | None, node: str | None, files: tuple[Path, ...]
) -> None:
    """List the facts with their source, age and state.

    The state is fresh, expired or future. Only a fresh fact is used.
    """
    from pulsus.cli.kb import fact_rows
    from pulsus.kb.explanation import note_fact

    loaded = _load(session, files)
    every = loaded.facts.all_facts()
    if node is not None and node not in loaded.facts.nodes:
        raise UsageError(
            f"--node {node!r} is no known node",
            hint=_nodes_hint(files),
        )
    chosen = [
        note_fact(fact, loaded.now)
        for fact in every
        if kind in (None, fact.kind) and (node is None or node in fact_rows.fact_nodes(fact))
    ]
    if session.json:
        failures = [console.json_fields(each, "name reason") for each in loaded.failures]
        rows = [fact_rows.note_to_dict(note) for note in chosen]
        console.document({"facts": rows, "failures": failures})
        return
    lines = [
        (note.fact.kind, note.fact.text, note.fact.provenance.source, note.age, note.state)
        for note in chosen
    ]
    if lines:
        console.table(("kind", "fact", "source", "age", "state"), lines)
    else:
        console.note("no facts: name a file with --facts FILE, or in kb.files")


def _nodes_hint(files: tuple[Path, ...]) -> str:
    """Return the command that lists the nodes. Without the same files it lists other ones."""
    words = ["pulsus", "kb", "facts", "--kind", "node"]
    words += [word for file in files for word in ("--facts", str(file))]
    return f"`{shlex.join(words)}` lists the nodes"


def _load(session: CommandSession, files: tuple[Path, ...]) -> LoadedKnowledge:
    loaded = session.app.knowledge.load(files)
    for failure in loaded.failures:
        console.warn(f"the fact source {failure.name} gave nothing: {failure.reason}")
    return loaded


def _tell_truncated(session: CommandSession, truncated: bool) -> None:
    if truncated:
        most = session.app.settings.kb.max_answers
        console.note(f"only the first {most} answers are shown (kb.max_answers)")
