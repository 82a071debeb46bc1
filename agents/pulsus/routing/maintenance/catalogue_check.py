"""Check a catalogue tool by tool: `pulsus tools check`.

Finds duplicate modules, shared names, and broken and unpromoted tools. Unused tools are found in
`routing/maintenance/unused_tools.py`, stale tools and tools without an owner in
`routing/maintenance/staleness.py`, near-duplicates in
`routing/maintenance/similar_descriptions.py`. An id that two modules claim is refused in
`routing/index/catalogue_builder.py`.

These checks need the files alone; `routing/maintenance/ranking_conflicts.py` has those that need
ranking. Pure, except that `find_git_ignored` asks git.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pulsus.core.contract.declared_call import (
    NO_VALUE,
    VerifyGap,
    describe_errors,
    find_verify_gap,
)
from pulsus.core.contract.declared_call_check import check_call
from pulsus.core.rankers.intent_phrases import share_of_anti_intent
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.storage.records.promotion_target import command_to_promote
from pulsus.core.text.tokens import stems
from pulsus.core.types import Catalogue, CatalogueWarning, ToolSpec

if TYPE_CHECKING:
    from pulsus.core.validators.git_changes import IgnoreRule

Level = Literal["error", "warning", "info"]
LEVELS: tuple[Level, ...] = ("error", "warning", "info")


_VERIFY_GAPS: dict[VerifyGap, tuple[str, str, str]] = {
    "missing": (
        "VERIFY_MISSING",
        "it changes things, and no tool verifies that: its docstring has no `Verify:`",
        "add `Verify:` with a read that shows the change (docs/tool-contract.md of Pulsus)",
    ),
    "unrelated": (
        "VERIFY_UNRELATED",
        "its `Verify:` uses no input and no output of the tool, so it proves no change",
        "use a value of the write in `Verify:`, such as {{input.NAME}} or {{output.NAME}}",
    ),
    "no_value": (
        "VERIFY_NO_VALUE",
        f"its `Verify:` {NO_VALUE}",
        "add the value that shows the change, then promote it again (docs/tool-contract.md of "
        "Pulsus)",
    ),
}


@dataclass(frozen=True, slots=True)
class CatalogueFinding:
    """One thing to look at. `code` is stable; `reason`, `fix` and each evidence are one line.

    `path` is None if it is about no single file.
    """

    code: str
    level: Level
    path: Path | None
    tools: tuple[str, ...]
    reason: str
    fix: str
    evidence: tuple[str, ...] = ()


def check_catalogue(
    catalogue: Catalogue, latest: Mapping[str, PromotionRecord], project: Path
) -> list[CatalogueFinding]:
    """Everything the files tell. `latest` maps a tool's id to its last promotion.

    The commands in the findings are for the folder `project`.
    """
    return [
        *_broken_findings(catalogue),
        *_same_bytes([t for t in catalogue.tools if not _is_deprecated(t, latest)]),
        *_blocks_itself(catalogue.tools),
        *_shadowed_findings(catalogue),
        *_incomplete_findings(catalogue.tools),
        *_call_findings(catalogue.tools),
        *_unpromoted_findings(catalogue.tools, latest, project),
        *_same_name(catalogue),
        *(
            warning_finding(warning)
            for warning in catalogue.warnings
            if warning.code != "INDEX_NOT_SAVED"  # that concerns no tool
        ),
    ]


def _call_findings(tools: Sequence[ToolSpec]) -> Iterator[CatalogueFinding]:
    """Yield calls of `Verify:` and `Undo:` that do not fit, and writes that nothing verifies."""
    by_id = {tool.id: tool for tool in tools}
    for tool in tools:
        for section, call in (("Verify", tool.verify), ("Undo", tool.undo)):
            if call is None:
                continue
            for fault in check_call(section, call, tool, by_id.get(call.tool)):
                yield CatalogueFinding(
                    f"{section.upper()}_INVALID",
                    "error",
                    tool.path,
                    (tool.id,),
                    fault,
                    "name a tool of this catalogue and the inputs that it takes",
                )
        if gap := find_verify_gap(tool):
            code, reason, fix = _VERIFY_GAPS[gap]
            yield CatalogueFinding(code, "warning", tool.path, (tool.id,), reason, fix)


def warning_finding(warning: CatalogueWarning) -> CatalogueFinding:
    """Return a warning of a reader. An unknown key of a manifest is an error: nothing reads it."""
    level: Level = "warning"
    fix = "correct the file" if warning.path else "correct the file it names"
    if warning.code == "UNKNOWN_KEY":
        level, fix = "error", "correct the key, or take it out"
    return CatalogueFinding(warning.code, level, warning.path, (), warning.text, fix)


def find_git_ignored(
    catalogue: Catalogue, project: Path, workflows: Path
) -> list[CatalogueFinding]:
    """Return findings for tools and records that git ignores, and for rules that would do so."""
    from pulsus.core.validators import git_changes

    tools = {tool.path: tool.id for tool in catalogue.tools}
    records = [path.parent / "metadata.jsonl" for path in tools]
    paths = [*tools, *dict.fromkeys(path for path in records if path.exists())]
    ignored = git_changes.list_ignored_modules(project, paths)
    found = [
        CatalogueFinding(
            "GIT_IGNORED",
            "error",
            one.path,
            (tools[one.path],) if one.path in tools else (),
            f"git ignores it ({one.rule}): it is never committed and no review sees it",
            how_to_unhide(one.rule),
        )
        for one in ignored
    ]
    named = {one.rule for one in ignored}
    for one in git_changes.list_hiding_rules(project, workflows):
        if one.rule not in named:
            reason = f"git would ignore tools in this folder ({one.rule})"
            fix = how_to_unhide(one.rule)
            found.append(
                CatalogueFinding("GIT_IGNORES_FOLDER", "warning", one.path, (), reason, fix)
            )
    return found


def how_to_unhide(rule: IgnoreRule) -> str:
    """Return what to do about a rule that hides tools."""
    pattern = rule.pattern
    nested = rule.file.endswith("/.gitignore") and not rule.file.startswith(("/", ".."))
    if nested or "/" in pattern.rstrip("/"):
        return f"take the rule {pattern} out, then `git add` the tools"
    return (
        f"begin the rule with a slash (/{pattern} instead of {pattern}), then `git add` the tools"
    )


def _broken_findings(catalogue: Catalogue) -> Iterator[CatalogueFinding]:
    fix = (
        "repair the file or move it out of workflows/; docs/tool-contract.md of Pulsus explains "
        "the codes"
    )
    for broken in catalogue.broken:
        yield CatalogueFinding(broken.code, "error", broken.path, (), broken.reason, fix)
    for tool in catalogue.tools:
        for error in describe_errors(tool.contract_errors, lambda: [t.id for t in catalogue.tools]):
            yield CatalogueFinding("CONTRACT_ERROR", "error", tool.path, (tool.id,), error, fix)


def _is_deprecated(tool: ToolSpec, latest: Mapping[str, PromotionRecord]) -> bool:
    """Return True if the tool is deprecated: after a move, the new tool has the very same bytes."""
    record = latest.get(tool.id)
    return record is not None and record.deprecated


def _same_bytes(tools: Sequence[ToolSpec]) -> Iterator[CatalogueFinding]:
    for same in _group_duplicates((tool.sha256, tool) for tool in tools):
        first, *others = same
        yield CatalogueFinding(
            "SAME_BYTES",
            "error",
            first.path,
            tuple(tool.id for tool in same),
            f"the very bytes of {', '.join(tool.id for tool in others)}",
            "keep one of them; a tool for several domains belongs into shared_tools/",
        )


def _same_name(catalogue: Catalogue) -> Iterator[CatalogueFinding]:
    hidden = {shadow.shared for shadow in catalogue.shadowed}
    visible = (tool for tool in catalogue.tools if tool.path not in hidden)
    for same in _group_duplicates((tool.name, tool) for tool in visible):
        yield CatalogueFinding(
            "SAME_NAME",
            "info",
            same[0].path,
            tuple(tool.id for tool in same),
            f"{len(same)} tools are named {same[0].name!r}, so the bare name is ambiguous",
            "use a full id, or rename all but one",
        )


def _blocks_itself(tools: Sequence[ToolSpec]) -> Iterator[CatalogueFinding]:
    """Anti-intents all of whose words a tool says of itself: it refuses its own requests."""
    for tool in tools:
        if tool.manifest is None:
            continue
        own = (tool.name, tool.summary)
        wanted = (*tool.manifest.intents, *tool.manifest.requests)
        for hint in tool.manifest.anti_intents:
            said = [
                text
                for text in (*own, *wanted)
                if share_of_anti_intent(hint, stems(text), text) == 1.0
            ]
            if not said:
                continue
            yield CatalogueFinding(
                "ANTI_INTENT_BLOCKS_ITSELF",
                "error" if said[0] in own else "warning",
                tool.manifest.path,
                (tool.id,),
                f"the anti-intent {hint!r} refuses what the tool says of itself: {said[0]!r}",
                "narrow the anti-intent, or take it out",
                tuple(said),
            )


def _shadowed_findings(catalogue: Catalogue) -> Iterator[CatalogueFinding]:
    ids = {tool.path: tool.id for tool in catalogue.tools}
    for found in catalogue.shadowed:
        pair = tuple(ids[path] for path in (found.shared, found.domain) if path in ids)
        reason = f"by {pair[-1]}" if len(pair) > 1 else "by a domain tool"
        fix = "rename one of the two, or remove the shared one"
        yield CatalogueFinding("SHADOWED", "warning", found.shared, pair, reason, fix)


def _incomplete_findings(tools: Sequence[ToolSpec]) -> Iterator[CatalogueFinding]:
    for tool in tools:
        if tool.missing_sections:
            reason = f"no section {', '.join(tool.missing_sections)}"
            fix = "add the sections to the docstring; docs/tool-contract.md of Pulsus"
            yield CatalogueFinding("INCOMPLETE", "warning", tool.path, (tool.id,), reason, fix)


def _unpromoted_findings(
    tools: Sequence[ToolSpec], latest: Mapping[str, PromotionRecord], project: Path
) -> Iterator[CatalogueFinding]:
    """Yield tools that routing finds and nothing runs: never promoted, or changed since."""
    for tool in tools:
        record = latest.get(tool.id)
        fix = command_to_promote(tool, project)
        if record is None or record.removed:
            gone = f"removed with {record.id}" if record else "never promoted"
            reason = f"found, but {gone}: it will not be run"
            yield CatalogueFinding("NOT_PROMOTED", "warning", tool.path, (tool.id,), reason, fix)
        elif record.tool_hash != f"sha256:{tool.sha256}":
            reason = f"changed since {record.version}: promote it to run it"
            yield CatalogueFinding("CHANGED", "warning", tool.path, (tool.id,), reason, fix)


def _group_duplicates(keyed: Iterable[tuple[str, ToolSpec]]) -> Iterator[list[ToolSpec]]:
    """Yield the tools that share a key with another, in the order of their ids."""
    groups: dict[str, list[ToolSpec]] = defaultdict(list)
    for key, tool in keyed:
        groups[key].append(tool)
    for same in groups.values():
        if len(same) > 1:
            yield sorted(same, key=lambda tool: tool.id)
