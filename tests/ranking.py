"""Tools and candidates for ranking tests."""

import math
from pathlib import Path

from pulsus.core.types import ArgSpec, Manifest, Ranked, ToolSpec


def tool(
    tool_id, summary="", *, kind=None, body="", args=(), intents=(), anti_intents=(), path=None
):
    """A tool of that id. `kind` None = undeclared."""
    place, action, name = tool_id.split("/")
    domain = None if place == "shared" else place
    folder = Path("/w/shared_tools") if domain is None else Path("/w/domains") / domain
    hints = Manifest(Path("/w/tool.yaml"), intents=intents, anti_intents=anti_intents)
    return ToolSpec(
        id=tool_id,
        path=path or folder / action / f"{name}.py",
        entry="run",
        args=tuple(ArgSpec(a, "str", required=True, default=None) for a in args),
        doc=summary,
        domain=domain,
        action=action,
        name=name,
        summary=summary,
        sha256=tool_id.encode().hex().ljust(64, "0")[:64],
        body=body,
        kind=kind or "write",
        kind_declared=kind is not None,
        manifest=hints if intents or anti_intents else None,
    )


def ranked(tool_id, p, *, covered=5.0, coverage=1.0, caution=None):
    """A candidate with that p, as clauses and selection see it."""
    return Ranked(
        tool=tool(tool_id),
        features={"name": p, "doc": p, "history": 0.0},
        weights={"name": 0.4, "doc": 0.4, "history": 0.2},
        score=p * 0.8,
        p=p,
        rank=1,
        signals={"mass": math.log1p(covered), "coverage": coverage},
        caution=caution,
        matched={"name": ("word",)},
    )


CATALOGUE = (
    tool("storage/usage/disk_usage", "Show how full each mounted filesystem is.", kind="read"),
    tool(
        "storage/usage/biggest_files",
        "List the largest files below a folder.",
        kind="read",
        args=("folder", "limit"),
    ),
    tool("storage/clean/delete_old_files", "Delete files older than some days.", kind="write"),
    tool("memory/usage/memory_summary", "Show memory and swap in use.", kind="read"),
    tool("network/ports/listening_ports", "List open ports and who listens on them.", kind="read"),
    tool("network/dns/dns_lookup", "Look up the addresses of a host name.", kind="read"),
    tool("web/tls/certificate_expiry", "Tell when a TLS certificate expires.", kind="read"),
    tool("web/logs/access_log_summary", "Summarise a web server's access log.", kind="read"),
    tool("logs/errors/error_counts", "Count the errors in a log file.", kind="read"),
    tool("services/status/service_status", "Tell whether a service is running.", kind="read"),
    tool("services/control/restart_service", "Restart a service.", kind="write"),
    tool("services/schedule/cron_jobs", "List every scheduled cron job.", kind="read"),
    tool("analysis/summarise/summarize_matrix", "Summary statistics of a matrix.", kind="read"),
    tool("analysis/visualise/plot_matrix", "Plot a matrix as a heatmap picture.", kind="write"),
    tool("shared/report/markdown_table", "Render rows as a markdown table.", kind="read"),
    tool("shared/sort/top_rows", "Keep the rows with the highest values of a column.", kind="read"),
)
"""Sixteen tools that share words the way real ones do."""
