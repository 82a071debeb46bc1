"""Examine the configured model for `pulsus doctor --model`, and report the findings.

`cli/setup/doctor_checks.py` says if a model is configured at all.

The questions to the model are those of `llm/model_probe.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pulsus.cli import console
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import PulsusError

if TYPE_CHECKING:
    from pulsus.bootstrap import App
    from pulsus.core.compose.model_protocol import Usage
    from pulsus.llm.model_probe import ProbeFinding


@dataclass(frozen=True, slots=True)
class ModelExamination:
    """The findings on the configured model."""

    provider: str
    name: str
    base_url: str
    findings: Sequence[ProbeFinding]
    usage: Usage

    @property
    def ready(self) -> bool:
        """True if the model can do what Pulsus needs."""
        return all(f.ok for f in self.findings if f.required)

    def body(self) -> dict[str, Any]:
        """Return the `model` of the document."""
        return {
            **console.json_fields(self, "ready provider name base_url"),
            "checks": [
                console.json_fields(f, "name ok found hint required") for f in self.findings
            ],
            "tokens_per_second": self._first("tokens_per_second"),
            "context_tokens": self._first("context"),
            "protocol": self._first("protocol"),
            "usage": asdict(self.usage),
        }

    def _first(self, name: str) -> Any:
        return next((v for f in self.findings if (v := getattr(f, name)) is not None), None)


def examine_model(app: App, tell: Callable[[str], None]) -> ModelExamination:
    """Everything tried on the configured model; `tell` gets a line before each."""
    from pulsus.agent.model.protocol_probe import probe_protocols
    from pulsus.bootstrap.language_model import turn_model
    from pulsus.core.compose.model_protocol import Usage
    from pulsus.llm import model_probe

    settings = app.settings.model
    shown = one_line(app.redactor.redact(settings.base_url))
    try:
        model = app.model()
    except PulsusError as error:
        findings = [model_probe.describe_failure("configured", error)]
        return ModelExamination(settings.provider, settings.name, shown, findings, Usage())
    tell(f"asking {settings.name} at {shown or settings.provider}; this may take minutes")

    def ask(question: str) -> None:
        tell(f"  {question}?")

    found = list(model_probe.run_probes(model, time.monotonic, ask))
    spent = model.spent
    if all(finding.ok for finding in found if finding.name == "answers"):
        by_json, natively = app.model(), app.model()
        found += probe_protocols(
            turn_model(app.settings.agent, by_json, "json"),
            turn_model(app.settings.agent, natively, "native"),
            app.settings.agent.protocol,
            ask,
        )
        spent += by_json.spent + natively.spent
    return ModelExamination(settings.provider, settings.name, shown, found, spent)
