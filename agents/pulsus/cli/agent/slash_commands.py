"""The slash commands of `pulsus chat`. They change nothing outside the session.

Session grants and other state are kept in `agent/control/session_grants.py` and
`agent/loop/session_state.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pulsus.cli.agent.agent_command import EXITS
from pulsus.core.telemetry.sanitize import one_line

if TYPE_CHECKING:
    from pulsus.agent.agent_session import AgentSession

COMMANDS: Final[Mapping[str, str]] = {
    "/facts": "show what the session remembers of tool results",
    "/tools": "show the tools that the last request offered to the model",
    "/state": "show the workflow state, open writes and resolved resources",
    "/why": "show the decisions of the last request",
    "/pin": "`/pin NAME` keeps a resource until `/unpin NAME`, also after `/reset pinned`",
    "/reset": "forget everything said and found; `/reset pinned` keeps pinned resources",
    "/grants": "list approvals for the session; `/grants revoke ID` takes one back",
    "/help": "show these commands",
    "/quit": "end the chat",
}
_SHOWN: Final = 20
_WIDTH: Final = 100


def answer_command(
    line: str, session: AgentSession, decisions: Sequence[Mapping[str, object]]
) -> Iterator[str]:
    """Yield the lines that answer a command other than `/quit`."""
    name, *rest = line.split()
    match name, rest:
        case "/facts", []:
            yield from _facts(session)
        case "/tools", []:
            yield from _tools(session)
        case "/state", []:
            yield from _state(session)
        case "/why", []:
            yield from _why(decisions) if decisions else ["no decision yet"]
        case "/pin" | "/unpin", [_, *_]:
            yield _pin(session, " ".join(rest), pinned=name == "/pin")
        case "/reset", [] | ["pinned"]:
            session.reset(keep_pinned=bool(rest))
            yield "the session is reset: resources have to be found again"
        case "/grants", []:
            yield from _grants(session)
        case "/grants", ["revoke", grant]:
            done = session.parts.control.grants.revoke(grant)
            yield f"{grant} is revoked" if done else f"there is no grant {one_line(grant, 60)}"
        case "/help", []:
            yield from (f"{each:<8} {text}" for each, text in COMMANDS.items())
            yield "@name mentions a resource. While the agent works, what you type goes to it."
            yield "Ctrl-C stops the agent, Ctrl-D ends the chat."
        case _:
            yield f"{one_line(line, 60)!r} is no command: /help lists them"


def _facts(session: AgentSession) -> Iterator[str]:
    summary = session.state.knowledge.summary()
    yield from summary.splitlines() or ["nothing yet"]


def _tools(session: AgentSession) -> Iterator[str]:
    if session.selection is None:
        yield "no request yet"
        return
    for tool in session.selection.at_start():
        kinds = sorted({tool.kind} if tool.kind else set(tool.kinds.values()))
        yield f"{tool.name:<20} {', '.join(kinds):<14} {one_line(tool.description, _WIDTH)}"


def _state(session: AgentSession) -> Iterator[str]:
    gates = session.state.gates
    yield f"{gates.workflow.name}, control level {session.parts.control.level}"
    for write in gates.workflow.unverified:
        yield f"  not verified: {write.resource_id}, written by {write.tool}"
    now = session.parts.clock()
    live = list(gates.resources.live(now))
    for resource in live[-_SHOWN:]:
        entry = gates.resources.entry(resource.id, now)
        mark = "  (pinned)" if entry is not None and entry.pinned else ""
        yield f"  {resource.id}  {one_line(resource.name, 60)}{mark}"
    if len(live) > _SHOWN:
        yield f"  … {len(live) - _SHOWN} more"


def _pin(session: AgentSession, name: str, *, pinned: bool) -> str:
    found = session.pin(name, pinned=pinned)
    if found.resource is not None:
        return f"{found.resource.id} is {'pinned' if pinned else 'not pinned'}"
    if found.ambiguous:
        return f"{one_line(name, 60)} may be {', '.join(found.ids)}: name one of these"
    return f"there is no resource {one_line(name, 60)}: /state lists them"


def _why(decisions: Sequence[Mapping[str, object]]) -> Iterator[str]:
    for each in decisions:
        phase, decision = each["phase"], each["decision"]
        match phase:
            case "refusal":
                yield f"refused {each['tool']}: {decision}, {one_line(str(each['message']), 200)}"
            case "call":
                worked = "worked" if each["ok"] else "failed"
                yield f"ran {decision} ({each['kind']}): {worked}, then {each['state']}"
            case "known":
                yield f"answered {decision} from known facts"
            case "correction":
                yield f"asked the model again: {decision}"
            case "approval":
                yield f"a person decided on {each['tool']}: {decision}"
            case "verify":
                yield f"verified {decision}: {'confirmed' if each['ok'] else 'not confirmed'}"
            case "request":
                yield f"control level: {decision}"
            case "end":
                yield _ended(str(decision))
            case _:
                continue


def _ended(status: str) -> str:
    known = {str(code): text for code, text in EXITS.items()}
    return f"ended: {known.get(status, 'stopped')} (exit code {status})"


def _grants(session: AgentSession) -> Iterator[str]:
    grants = session.parts.control.grants.shown()
    if not grants:
        yield "no grants: answer an approval with `s` to allow equal calls for a while"
    for grant in grants:
        minutes = max(0, round((grant.expires - session.parts.clock()) / 60))
        yield f"{grant.grant_id}  {grant.risk_level}  {minutes} min left  {grant.command}"
