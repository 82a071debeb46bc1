"""From a chosen module to a promoted revision: prove, ask, promote (spec §8, §10, §12, §16).

A module may be promoted if it passes validation (else VALIDATION_FAILED), its writes have a
`Verify:` (`routing/delivery/verify_gate.py`), and it is approved: this is decided here.
`approvals/unattended.py` has the rules without a person, `cli/prompts/approval_prompt.py` asks one.
`core/storage/promotion/promote.py` writes the files. After 20 edits without a decision the delivery
is refused. A candidate that was not promoted is offered again by
`routing/delivery/pending_candidates.py`.

Bytes are read once: those that were checked are those that run and are promoted.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, assert_never

from pulsus.approvals import unattended
from pulsus.approvals.approver_protocol import (
    ApprovalAnswer,
    Approve,
    Approver,
    ChangeTarget,
    Discard,
    EditModule,
    Proposal,
)
from pulsus.approvals.known_modules import Novelty
from pulsus.approvals.unattended import Approval, CallerApproval
from pulsus.core.storage import candidate_store
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import (
    BrokenTool,
    JsonValue,
    Promotion,
    ToolSpec,
    ValidatedModule,
    ValidationReport,
)
from pulsus.errors import ApprovalNeeded, Busy, PulsusError, ValidationFailed
from pulsus.routing.delivery.verify_gate import FindTool, find_verification_fault

if TYPE_CHECKING:
    from pulsus.routing.delivery.catalogue_promoter import CataloguePromoter

Steps = Mapping[str, tuple[ToolSpec, bytes]]
ToolReader = Callable[[bytes, Path], ToolSpec | BrokenTool]
"""Source bytes and the path they stand for → the tool they define."""

MAX_EDITS = 20
"""An editor that never yields an acceptable module ends here."""


class ModuleValidator(Protocol):
    """The validation pipeline."""

    def validate(
        self, source: bytes, path: Path, tool: ToolSpec | BrokenTool, steps: Steps
    ) -> tuple[ValidationReport, ValidatedModule | None]:
        """Return the report, and the proven module where it accepts."""
        ...


@dataclass(frozen=True, slots=True)
class CandidateModule:
    """A chosen module: the selected tool's file, or a candidate in `_tmp/`.

    `notes` are what a person should know beside the report before approving. `rendered` is True if
    Pulsus rendered it from a plan in this run.
    """

    path: Path
    source: bytes
    tool: ToolSpec | BrokenTool
    target: Target
    steps: Steps
    candidate: candidate_store.StoredCandidate | None = None
    edited_from: bytes | None = None
    notes: tuple[str, ...] = ()
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The end of a delivery. `failure` is None unless something prevented the promotion."""

    report: ValidationReport
    promotion: Promotion | None = None
    failure: PulsusError | None = None
    discarded: bool = False


First = Callable[[], DeliveryResult | None]
"""Delivers what must be promoted before a module; a delivery that ended otherwise, or None."""


@dataclass(frozen=True, slots=True)
class DeliveryPipeline:
    """Proves a module, asks for approval and promotes it.

    `find` looks a tool up in the catalogue; None checks no
    `Verify:`. `person` is None if no person can be asked. Messages name paths below `root`, the
    project.
    """

    prover: ModuleValidator
    promoter: CataloguePromoter
    read: ToolReader
    person: Approver | None
    redactor: Redactor
    root: Path = Path()
    find: FindTool | None = None

    def deliver(
        self,
        module: CandidateModule,
        *,
        dry_run: bool,
        approval: Approval,
        first: First | None = None,
        step: bool = False,
    ) -> DeliveryResult:
        """Prove `module` and, unless `dry_run`, promote it.

        If there is no person, `approval` decides: by the caller's own approval, or by the rules of
        `unattended.objection`, whose objection becomes the failure. `first` runs between that
        decision and the promotion. `step` says that the module is a step of the routed plan.
        """
        for _ in range(MAX_EDITS):
            report, validated = self.prover.validate(
                module.source, module.path, module.tool, module.steps
            )
            if validated is None:
                self._note_candidate(module, "failed", (report.summary,))
                return DeliveryResult(
                    report, failure=_validation_failure(report, self._relative_path(module.path))
                )
            known = self.promoter.current(module.target, report.sha256)
            if known or dry_run:
                return DeliveryResult(report, promotion=known)
            fault = self._verification_fault(validated.tool, module.target)
            objection = fault or self._reason_against_unattended(
                module, report, approval, step=step
            )
            if objection:
                self._note_candidate(module, "failed" if fault else "pending", (objection.message,))
                return DeliveryResult(report, failure=objection)
            ended = first() if first else None
            if ended:
                return ended
            answer = self._ask_for_approval(module, validated)
            match answer:
                case Approve():
                    return DeliveryResult(
                        report, self._promote_module(module, validated, module.target)
                    )
                case ChangeTarget(target):
                    return DeliveryResult(report, self._promote_module(module, validated, target))
                case Discard(reason):
                    self._note_candidate(module, "rejected", (reason,))
                    self._log_decision("discard", module.target, report, reason=reason)
                    return DeliveryResult(report, discarded=True)
                case EditModule(source):
                    module = self._with_edited_source(module, source)
                case _:
                    assert_never(answer)
        raise ApprovalNeeded(f"no decision after {MAX_EDITS} edits", hint="route the request again")

    def examine(self, module: CandidateModule) -> DeliveryResult:
        """Prove `module` as `deliver` does, and ask for and promote nothing.

        `promotion` is set if these bytes are promoted already.
        """
        report, validated = self.prover.validate(
            module.source, module.path, module.tool, module.steps
        )
        if validated is None:
            shown = self._relative_path(module.path)
            return DeliveryResult(report, failure=_validation_failure(report, shown))
        known = self.promoter.current(module.target, report.sha256)
        fault = None if known else self._verification_fault(validated.tool, module.target)
        return DeliveryResult(report, promotion=known, failure=fault)

    def _verification_fault(self, tool: ToolSpec, target: Target) -> PulsusError | None:
        """Return why its changes could not be verified. `find` is None in tests of a delivery."""
        if self.find is None:
            return None
        return find_verification_fault(
            replace(tool, id=target.tool_id), self.find, new=self.promoter.is_new(target)
        )

    def _reason_against_unattended(
        self, module: CandidateModule, report: ValidationReport, approval: Approval, *, step: bool
    ) -> PulsusError | None:
        """Return the reason against an approval without a person; None if approval is allowed."""
        if self.person is not None or isinstance(approval, CallerApproval):
            return None
        case = unattended.ApprovalCase(
            shown=self._relative_path(module.path),
            target=module.target,
            sha256=report.sha256,
            proof=report.proof,
            novelty=self._compare_with_catalogue(module.target, module.source, module.tool),
            candidate=module.candidate,
            steps=self._changed_steps(module.steps),
            rendered=module.rendered,
            step=step,
        )
        return unattended.find_objection(case, approval)

    def _changed_steps(self, steps: Steps) -> Mapping[str, tuple[str, Novelty]]:
        """Return the steps that are not promoted in their present form."""
        found = {}
        for tool, source in steps.values():
            place = Target(tool.domain, tool.action, tool.name)
            if self.promoter.current(place, digest(source)) is None:
                found[tool.id] = (
                    self._relative_path(tool.path),
                    self._compare_with_catalogue(place, source, tool),
                )
            elif not self.promoter.approved(place):
                why = f"you did not approve the record of {tool.id} (pulsus audit --accept-records)"
                found[tool.id] = (self._relative_path(tool.path), Novelty(known=why))
        return found

    def _compare_with_catalogue(
        self, target: Target, source: bytes, tool: ToolSpec | BrokenTool
    ) -> Novelty:
        summary = tool.summary if isinstance(tool, ToolSpec) else ""
        return self.promoter.novelty(target, source, summary)

    def _relative_path(self, path: Path) -> str:
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)

    def _ask_for_approval(
        self, module: CandidateModule, validated: ValidatedModule
    ) -> ApprovalAnswer:
        if self.person is None:
            return Approve()
        version = self.promoter.restored_version(validated, module.target)
        told = (f"becomes version {version}",) if version else ()
        notes = (*told, *module.notes)
        proposal = Proposal(
            validated.tool,
            validated.source,
            module.target,
            validated.report,
            notes,
            is_candidate=module.candidate is not None,
            restores=version is not None,
        )
        return self.person.decide(proposal)

    def _promote_module(
        self, module: CandidateModule, validated: ValidatedModule, target: Target
    ) -> Promotion:
        remove = module.candidate.module if module.candidate else None
        edited = module.edited_from if target == module.target else None
        asked = self.person is not None
        proof = validated.report.proof
        self._log_decision("approve", target, validated.report, asked=asked, proof=proof)
        return self.promoter.promote(validated, target, remove=remove, edited_from=edited)

    def _log_decision(
        self, kind: str, target: Target, report: ValidationReport, **more: JsonValue
    ) -> None:
        about: dict[str, JsonValue] = {"tool": target.tool_id, "sha256": report.sha256}
        if report.network:
            about["network"] = list(report.network)
        self.promoter.decided(kind, about | more)

    def _with_edited_source(self, module: CandidateModule, source: bytes) -> CandidateModule:
        tool = self.read(source, module.path)
        original = module.edited_from or module.source
        return replace(module, source=source, tool=tool, edited_from=original)

    def _note_candidate(
        self, module: CandidateModule, status: candidate_store.Status, reasons: tuple[str, ...]
    ) -> None:
        """Note on a candidate why it was not promoted, so that the next run offers it again.

        What a person rejected stays so until a person decides again.
        """
        rejected = module.candidate and module.candidate.status == "rejected"
        if module.candidate and (self.person or not rejected):
            kept = replace(module.candidate, status=status, reasons=reasons)
            candidate_store.write(kept, self.redactor)


def _validation_failure(report: ValidationReport, shown: str) -> PulsusError:
    if report.busy:
        return Busy(
            f"{report.path.name} is not verified: {report.summary}",
            hint="try again when this machine is less busy",
            sha256=report.sha256,
        )
    return ValidationFailed(
        f"{report.path.name} is {report.verdict}: {report.summary}",
        hint=_suggest_module(report, shown)
        or f"correct it; each step is shown by: pulsus validate {shlex.quote(shown)}",
        sha256=report.sha256,
    )


def _suggest_module(report: ValidationReport, shown: str) -> str:
    """Return the hint for a test that was named in place of the module beside it, or ''."""
    from pulsus.core.validators.steps.static_gate import NAMED_LIKE_TEST  # only for a refusal

    name = report.path.name.removeprefix("test_")
    if NAMED_LIKE_TEST not in report.summary or not report.path.with_name(name).is_file():
        return ""
    return f"name the module that it tests: {shlex.quote(str(Path(shown).with_name(name)))}"


def digest(source: bytes) -> str:
    """Hex SHA-256 of a module's bytes."""
    return hashlib.sha256(source).hexdigest()
