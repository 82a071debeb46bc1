"""Validated modules and promotions for tests of storage."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from pulsus.core.storage.catalogue_lock import CatalogueStore
from pulsus.core.storage.promotion.promote import PromotionContext, promote
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import StepResult, ToolSpec, ValidatedModule, ValidationReport

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def noon():
    return NOON


def module(text="one", size=0):
    return f'"""Count {text}."""\n\n\ndef run():\n    return {text!r}\n'.encode() + b"#" * size


def report(source, *, ok=True, verdict="accepted", path=Path("workflows/_tmp/x.py")):
    return ValidationReport(
        ok=ok,
        verdict=verdict,
        path=path,
        sha256=hashlib.sha256(source).hexdigest(),
        steps=(StepResult("ruff", ok, 1),),
        duration_ms=1,
        artifacts=(),
        summary="ok",
        proof="shape",
    )


def tool(source, *, summary="Count things.", name="x"):
    return ToolSpec(
        id=f"d/a/{name}",
        path=Path(f"/w/domains/d/a/{name}.py"),
        entry="run",
        args=(),
        doc=summary,
        domain="d",
        action="a",
        name=name,
        summary=summary,
        sha256=hashlib.sha256(source).hexdigest(),
        kind="read",
    )


def validated(source=None, **changes):
    source = module() if source is None else source
    return ValidatedModule(source, tool(source, **changes), report(source))


CONTEXT = PromotionContext(
    run_id="run-20260301-120000-abcdef", route_id="route-12345678", approved_by="alice"
)


def store_of(project, *, clock=noon, redactor=None, lock_seconds=30.0):
    """The catalogue in the project folder."""
    redactor = redactor or Redactor()
    return CatalogueStore(project / "workflows", project / ".pulsus", clock, redactor, lock_seconds)


def promoted(project, source=None, *, target=None, context=CONTEXT, clock=noon, **options):
    """Promote `source` in the project folder; `workflows/` is made if it is not there."""
    root = project / "workflows"
    root.mkdir(parents=True, exist_ok=True)
    settings = {k: options.pop(k) for k in ("lock_seconds", "redactor") if k in options}
    return promote(
        validated(source),
        target=target or Target("system", "count", "things"),
        store=store_of(project, clock=clock, **settings),
        context=context,
        **options,
    )


def tree(folder):
    """Every file below `folder` with its bytes, and every folder with None."""
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
        for p in sorted(folder.rglob("*"))
    }


def promote_in_child(project, name, source):
    """Target of a spawned process."""
    promoted(Path(project), source, target=Target("system", "count", name))
