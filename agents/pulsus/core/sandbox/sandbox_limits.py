"""The limits of one sandbox: seconds, memory, processes, files, output (spec §8, §17).

Their defaults are the settings `sandbox.*`, and `validation.import_seconds` for the import
(`config/settings.py`). They are applied by `sandbox_session.py` (the timeout of each stage, and the
end of a sandbox that has used it up), `core/sandbox/isolation/cgroup_limits.py` (memory,
processes), `core/sandbox/isolation/bwrap_arguments.py` (the size of /tmp) and
`core/sandbox/harness/harness.py` (rlimits, which a process sets for itself). Network and mounts are
in `isolation/`. A real run has other limits: the settings `run.*`, applied in `execution/`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pulsus.config.settings import SandboxConfig

MIB = 1024 * 1024
HANDLER_SECONDS = 10.0
"""For exit handlers and finalizers, of the seconds of the run. Waiting for threads is not in it."""

_ADDRESS_FACTOR = 1.5
"""Mapped but untouched memory is not used memory; the resource monitor counts that."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one sandbox, in bytes and seconds. `processes` counts threads too."""

    run_seconds: float
    import_seconds: float
    memory_bytes: int
    address_bytes: int
    processes: int
    tmp_bytes: int
    output_bytes: int
    result_bytes: int
    open_files: int = 256
    network_bytes: int = 0

    @classmethod
    def of(cls, config: SandboxConfig, import_seconds: float) -> SandboxLimits:
        """Return the limits that the settings define."""
        memory = config.max_mem_mb * MIB
        return cls(
            run_seconds=config.max_seconds,
            import_seconds=import_seconds,
            memory_bytes=memory,
            address_bytes=int(memory * _ADDRESS_FACTOR),
            processes=config.max_processes,
            tmp_bytes=config.max_tmp_mb * MIB,
            output_bytes=config.max_output_kb * 1024,
            result_bytes=config.max_result_kb * 1024,
            network_bytes=config.max_network_mb * MIB,
        )

    def inside(self) -> dict[str, int]:
        """Return the limits that the harness sets on itself before it loads anything."""
        return {
            "as": self.address_bytes,
            "cpu": int(self.run_seconds + self.import_seconds) + 5,
            "nproc": self.processes,
            "fsize": self.tmp_bytes,
            "nofile": self.open_files,
            "result": self.result_bytes,
        }
