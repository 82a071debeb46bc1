"""Set up validation in one project: its Python, its network, its pipeline.

The stages and their order are in `core/validators/pipeline.py`. Without a working sandbox a module
stays unverified: `core/sandbox/sandbox_probe.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.core.telemetry import ids
from pulsus.errors import ConfigError
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.bootstrap.project_context import ProjectContext
    from pulsus.bootstrap.project_history import ProjectHistory
    from pulsus.core.sandbox.interpreter import Interpreter
    from pulsus.core.validators.pipeline import Pipeline
    from pulsus.core.validators.validator_protocol import Validator
    from pulsus.routing.delivery.network_allowlist import Allowlist


@dataclass(frozen=True)
class ValidationSetup:
    """The setup that the modules of one project are validated with."""

    ground: ProjectContext
    past: ProjectHistory

    @cached_property
    def interpreter(self) -> Interpreter | None:
        """The Python that tools run with; None is ours. Raises ConfigError."""
        python = self.ground.settings.tools.python
        if not python:
            return None
        from pulsus.config.trust.approval_hash import program_path
        from pulsus.core.sandbox.interpreter import NoInterpreter, read_interpreter

        try:
            return read_interpreter(program_path(self.ground.project, python))
        except NoInterpreter as error:
            hint = 'name one with bin/python, or leave it "" for the Python of Pulsus'
            raise ConfigError(f"tools.python: {error}", hint=hint) from None

    @cached_property
    def network(self) -> Allowlist | None:
        """Return which hosts dry runs may reach; None is no network. Raises ConfigError."""
        ground, sandbox = self.ground, self.ground.settings.sandbox
        if sandbox.network == "off" and not sandbox.tool_network:
            return None
        from pulsus.routing.delivery.network_allowlist import build_allowlist

        return build_allowlist(sandbox, ground.origins, ground.tmp_dir, lambda: self.past.latest)

    @property
    def _mypy_cache(self) -> Path | None:
        """The cache folder of mypy, below a name that no repository can know."""
        token = self.ground.cache_token
        return self.ground.state_dir / "cache" / "mypy" / token[:32] if token else None

    @cached_property
    def validators(self) -> tuple[tuple[str, Validator], ...]:
        """The plugins' checks of a module. Pulsus itself adds none as a plugin."""
        ground = self.ground
        return ground.contributions.validators if len(ground.plugins.infos) > 1 else ()

    def pipeline(self, extra: Sequence[tuple[str, Validator]] = ()) -> Pipeline:
        """Return the validation pipeline with this project's rules; `extra` come before the
        plugins'.

        What has to meet `extra` was written by a model: of the network it gets its own only.
        """
        from pulsus.core.validators.pipeline import Pipeline

        return Pipeline(
            validation=self.ground.settings.validation,
            sandbox=self.ground.settings.sandbox,
            log_dir=self.ground.log_dir,
            clock=ids.utc_now,
            redact=self.ground.redactor.redact,
            extra_validators=lambda: (*extra, *self.validators),
            mypy_cache=self._mypy_cache,
            python=self.interpreter,
            network=self.network.own() if extra and self.network else self.network,
        )
