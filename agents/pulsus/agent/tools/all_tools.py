"""All tools of the agent for one project: the table of kinds, and the tools by name.

Tools that `access.allow` or `access.deny` exclude (`routing/search/access_filter.py`) are left out
here. The folders that no tool may touch are listed here (`protected_folders`).
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pulsus
from pulsus.agent.tool_protocol import AgentTool
from pulsus.agent.tools.alerts import AlertsTool
from pulsus.agent.tools.catalogue.catalogue_tool import CatalogueTool, agent_names
from pulsus.agent.tools.catalogue.route_tool import RouteTool
from pulsus.agent.tools.cluster.execute_migration import ExecuteMigrationTool, ProposeMigration
from pulsus.agent.tools.cluster.query_wam import AskGoal, QueryWamTool
from pulsus.agent.tools.cluster.schedule_ha_proposal import ReadFacts, ScheduleHaProposalTool
from pulsus.agent.tools.control_tool import ControlTool
from pulsus.agent.tools.discovery import DiscoveryTool
from pulsus.agent.tools.docker import DockerTool
from pulsus.agent.tools.file_edit import FileEditTool
from pulsus.agent.tools.kubernetes import KubernetesTool
from pulsus.agent.tools.local.local_system import CommandJudge, LocalSystem
from pulsus.agent.tools.local.tool_report import ToolReport
from pulsus.agent.tools.metrics_tool import MetricsTool
from pulsus.agent.tools.pmg import MailGatewayTool
from pulsus.agent.tools.query import QueryTool
from pulsus.agent.tools.read import ReadTool
from pulsus.agent.tools.storage import StorageTool
from pulsus.config.user_state import state_folder
from pulsus.core.types import ToolSpec
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import DescriptorTable
from pulsus.infra.local_machine import LocalMachine
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.search.access_filter import access_filter


@dataclass(frozen=True, slots=True)
class AgentTools:
    """The tools of one session. `table` describes exactly those in `by_name`."""

    table: DescriptorTable
    by_name: Mapping[str, AgentTool]
    system: LocalSystem


def agent_tools(
    project: Project,
    judge: CommandJudge,
    *,
    environ: Mapping[str, str],
    now: Callable[[], datetime],
    known_hosts: Sequence[str] = (),
    ask: AskGoal | None = None,
    facts: ReadFacts | None = None,
    propose: ProposeMigration | None = None,
) -> AgentTools:
    """Return the tools for one session in this project.

    `judge` is the project's command gate, `known_hosts` are hosts that the request names, `ask` is
    the knowledge base, and `facts` reads its facts, or both are None without one. `propose` takes
    migrations for approval, if a server runs here. Tools that the filters of the settings exclude
    are left out. Raises what reading the catalogue raises.
    """
    machine = LocalMachine(environ)
    report = ToolReport(machine.host.name, project.redactor, now)
    system = LocalSystem(
        machine,
        report,
        judge,
        environ,
        project.state_dir,
        protected_folders(project),
        tuple(known_hosts),
    )
    chosen = _allowed_tools(project)
    names = agent_names(chosen, frozenset(built_in_tools()))
    built_in: list[AgentTool] = [
        QueryTool(system),
        DiscoveryTool(system),
        ReadTool(system),
        ControlTool(system),
        ControlTool(system, "pulsus_run_command"),
        FileEditTool(system),
        MetricsTool(system),
        StorageTool(system),
        AlertsTool(system),
        DockerTool(system),
        KubernetesTool(system),
        MailGatewayTool(system),
        RouteTool(project, report, names),
    ]
    if ask is not None:
        built_in.append(QueryWamTool(ask, report))
    if facts is not None:
        built_in.append(ScheduleHaProposalTool(facts, report))
        built_in.append(ExecuteMigrationTool(facts, report, propose))
    added: list[AgentTool] = [
        CatalogueTool(project, system, tool, names[tool.id]) for tool in chosen
    ]
    table = DescriptorTable(
        [tool.descriptor for tool in built_in], [tool.descriptor for tool in added]
    )
    by_name = {tool.descriptor.name: tool for tool in (*built_in, *added)}
    return AgentTools(table, by_name, system)


def _allowed_tools(project: Project) -> list[ToolSpec]:
    filters = access_filter(project.settings.access)
    tools = project.catalogue.tools
    return [tool for tool in tools if filters is None or filters.refusal(tool) is None]


def own_environment() -> tuple[Path, ...]:
    """Return the program and the packages of Pulsus's own virtual environment: what is written
    there runs in the next process of Pulsus. Empty without one."""
    if sys.prefix == sys.base_prefix:
        return ()
    return Path(sys.executable).with_name("pulsus"), Path(sysconfig.get_path("purelib"))


def protected_folders(project: Project) -> tuple[Path, ...]:
    """Return the folders of Pulsus itself, also as their links lead: no tool opens a file there."""
    named = [
        project.state_dir,
        project.log_dir,
        project.workflows_root,
        project.project / "config",
        project.project / "agents",
        project.project / "pyproject.toml",  # it may hold settings, like config/pulsus.toml
        project.project / ".git",  # it holds every earlier version of all of these
        Path(pulsus.__file__).parent,
        *own_environment(),
    ]
    with suppress(PulsusError):  # a user without HOME has none
        named.append(state_folder())
    return tuple(dict.fromkeys([*named, *(each.resolve() for each in named)]))
