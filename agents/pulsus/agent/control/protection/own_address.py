"""Find connections to the address of Pulsus itself, in commands and in arguments of tools.

Requests to `localhost` (loopback) at the port of `pulsus serve` are refused by it. Hosts and ports
count in every spelling (`endpoint_spellings.py`), together or apart. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from pulsus.agent.control.protection.endpoint_spellings import (
    Endpoint,
    addresses_of,
    command_tokens,
    glob_spellings,
    parse_endpoints,
    url_spellings,
)
from pulsus.agent.control.protection.processes.own_process import TOKENS
from pulsus.commands.command_verdict import CommandVerdict
from pulsus.commands.program_tables.connects_declaration import CONFIGURED, LOCAL, Connects
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.shell.script_parser import Script
from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name
from pulsus.gates.egress import is_this_machine, normalize_host, parse_address

_SCANNERS: Final = frozenset({"nc", "ncat", "netcat", "nmap", "masscan", "hping3", "rustscan"})
"""Programs whose ports may be a range, such as `8000-9000`."""
_PORT_SIGNS: Final = re.compile(r"\d|://")
"""Without one of these a text names no port by its number: a digit, a scheme with a usual port."""
_PLACE_NAMED: Final = re.compile(r"://|@|\bhost(?:addr)?=|:\d")
_NAMES_HOST: Final = re.compile(r"(?i)host|ur[li]|addr|server|target|endpoint|machine|node")
"""Names of arguments that say where a tool connects to."""
_LOOPBACK_NAME: Final = re.compile(
    r"(?:.+\.)?localhost[46]?(?:\.localdomain[46]?)?|ip6-(?:localhost|loopback)"
)
"""Names that hosts files of distributions give to the loopback address."""
_LOCAL_DOMAIN: Final = re.compile(
    r"\.(?:local|lan|localdomain|home|internal|intranet|home\.arpa|fritz\.box)$"
)
"""Domains in which a network gives names to the machines in it."""
_LOOPBACK_DOMAIN: Final = re.compile(
    r"(?:.+\.)?(?:localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|localho\.st|local\.gd|fuf\.me"
    r"|smackaho\.st|127-0-0-1\.org\.uk|loopback\.(?:jp|host)|yoogle\.com|domaincontrol\.xyz)"
)
"""Public domains whose every name is the loopback address."""
_GLOB_SIGNS: Final = re.compile(r"[\[{]")
_FROM_CONTAINER: Final = re.compile(
    r"(?:host|gateway|kubernetes)\.(?:docker|containers|lima|orb|minikube|rancher-desktop)\.internal"
    r"|host\.(?:k3d|minikube)\.internal|host\.rancher-desktop\.internal|docker\.for\.\w+\.\w+"
    r"|172\.(?:1[7-9]|2\d|3[01])\.0\.1|10\.(?:88|89|4)\.\d+\.1|10\.0\.2\.[23]|169\.254\.1\.2"
    r"|192\.168\.65\.(?:1|2|254)"
)
"""Names and gateways by which a container reaches the machine that it runs on."""
_FORWARDING: Final = re.compile(r"-[A-Za-z0-9]*[LRDW]|port-forward$|expose$")
_FORWARDERS: Final = frozenset(
    {
        *("iptables", "ip6tables", "iptables-nft", "ip6tables-nft", "iptables-legacy", "nft"),
        *("ebtables", "firewall-cmd", "ufw", "pfctl", "ipvsadm", "chisel", "ngrok", "cloudflared"),
        *("tailscale", "frpc", "bore", "lt", "autossh", "rinetd", "redir", "socat", "haproxy"),
        *("tcpkill", "upnpc", "natpmpc", "ssh", "kubectl", "oc", "sshuttle", "gost", "rathole"),
    }
)
"""Programs that send the connections of others on, or cut them, by a port of this machine."""


class OwnAddress:
    """The address that Pulsus listens on. Without `ports` no connection is refused.

    `ports` are those of `pulsus serve`. `hosts` are names and addresses of this machine beside the
    loopback ones. `services` are names that stand for own ports. `tables` say which program
    connects to this machine if no word names a place.
    """

    def __init__(
        self,
        tables: Tables,
        *,
        hosts: Iterable[str] = (),
        ports: Sequence[int] = (),
        services: Mapping[str, int] | None = None,
    ) -> None:
        names = [normalize_host(host.partition("%")[0]) for host in hosts]
        self._hosts = frozenset(filter(None, names))
        self._addresses = frozenset(filter(None, map(parse_address, names)))
        self._ports, self._tables = frozenset(ports), tables
        self._services = services or {}

    def find_in_command(
        self, script: Script, calls: Sequence[Sequence[Word]], verdict: CommandVerdict
    ) -> str:
        """Return what connects to Pulsus itself, or an empty text. `calls` are from `calls_of`."""
        if not self._ports:
            return ""
        for each in verdict.destinations:
            if each.port not in self._ports:
                continue
            # A client without a place in its configuration connects to this machine.
            if each.host[:1] == "@" or self.is_own_host(each.host):
                return f"{each.host.removeprefix('@')}:{each.port}"
        if reached := self._find_in_surroundings(script):
            return reached
        return next(filter(None, (self._find_in_call(each, verdict) for each in calls)), "")

    def _find_in_call(self, call: Sequence[Word], verdict: CommandVerdict) -> str:
        """Return what connects one call to Pulsus, or an empty text."""
        texts, ranges = [word.text for word in call[1:]], program_name(call) in _SCANNERS
        # Most calls name no own port, and then their hosts do not matter.
        if not (ranges or any(map(self._may_name_port, texts))):
            return ""
        if any("%" in text for text in texts):
            texts += [unquote(text) for text in texts if "%" in text]
        if program_name(call) == "curl":
            globs = [text for text in texts if _GLOB_SIGNS.search(text)]
            texts += [each for text in globs for each in glob_spellings(text, self._ports)]
        named = parse_endpoints(command_tokens(texts), ranges=ranges)
        ports = self._own_ports(named)
        if not ports:
            return ""
        if hosts := self._own_hosts(named):
            return f"{hosts[0]}:{ports[0]}"
        here = self._sends_on(call, writes=not verdict.allow) or self._connects_here(call)
        return f"{LOCAL}:{ports[0]}" if here else ""

    def _find_in_surroundings(self, script: Script) -> str:
        """Return the own address that a redirection or variables name (`/dev/tcp/HOST/PORT`,
        `PGHOST=… PGPORT=…`), or an empty text."""
        texts = [redirect.target.text for redirect in script.redirects]
        given = [pair for stage in script.stages for pair in stage.assignments]
        for stage in script.stages:
            pairs = (word.text.partition("=") for word in stage.words)
            given += [(name, value) for name, sign, value in pairs if sign and name.isidentifier()]
        values = " ".join(value for _, value in given)
        for text in filter(self._may_name_port, [*texts, values]):
            named = parse_endpoints(command_tokens([text]))
            ports = self._own_ports(named)
            if ports and (hosts := self._own_hosts(named)):
                return f"{hosts[0]}:{ports[0]}"
        tokens = TOKENS.split(values) if self._may_name_port(values) else ()
        ports = self._own_ports(parse_endpoints(tokens))
        if not ports:
            return ""
        words = [word.text for stage in script.stages for word in stage.words]
        hosts = self._own_hosts(parse_endpoints(command_tokens(words)))
        names_host = any(_NAMES_HOST.search(name) for name, _ in given)
        alone = not names_host and any(
            self._is_local_client(stage.words) for stage in script.stages
        )
        return f"{hosts[0] if hosts else LOCAL}:{ports[0]}" if hosts or alone else ""

    def _is_local_client(self, call: Sequence[Word]) -> bool:
        """Return True for a program that connects to this machine if no word names another."""
        node = self._tables.get(program_name(call)) if call else None
        connects = node.connects if node is not None else None
        if connects is None or any(_names_place(word.text, connects) for word in call[1:]):
            return False
        return bool({place for place, _ in connects.otherwise} & {LOCAL, CONFIGURED})

    def find_in_arguments(self, named: Iterable[tuple[str, str]]) -> str:
        """Return the own address among arguments of a tool that connects, or an empty text.

        `named` are pairs of an argument's name and a text in its value. A port without any host
        is one of this machine.
        """
        if not self._ports:
            return ""
        pairs = list(named)
        named_here = parse_endpoints(
            token
            for _, text in pairs
            for each in url_spellings(text)
            for token in TOKENS.split(each)
        )
        ports = self._own_ports(named_here)
        hosts = self._own_hosts(named_here) if ports else []
        if ports and (hosts or not any(_NAMES_HOST.search(name) for name, _ in pairs)):
            return f"{hosts[0] if hosts else LOCAL}:{ports[0]}"
        return ""

    def is_own_host(self, host: str) -> bool:
        """Return True if `host` is this machine, in any spelling that a program may take."""
        name = normalize_host(host.removeprefix("[").partition("%")[0])
        if is_this_machine(name) or name in self._hosts or _LOOPBACK_NAME.fullmatch(name):
            return True
        if _FROM_CONTAINER.fullmatch(name):
            return True
        if _LOCAL_DOMAIN.sub("", name) in self._hosts or _LOOPBACK_DOMAIN.fullmatch(name):
            return True
        return any(
            each.is_loopback or each.is_unspecified or each in self._addresses
            for each in addresses_of(name)
        )

    def _may_name_port(self, text: str) -> bool:
        """Return False for a text that names no port in any part of it, other than in a range."""
        if _PORT_SIGNS.search(text) is not None:
            return True
        return any(name in text.casefold() for name in self._services)

    def _own_ports(self, named: Iterable[Endpoint]) -> list[int]:
        """Return the own ports among endpoints, by number or by the name of a service."""
        ports: list[int] = []
        for host, numbers in named:
            ports += [port for port in self._ports if port in numbers]
            if host.casefold() in self._services:
                ports.append(self._services[host.casefold()])
        return ports

    def _own_hosts(self, named: Iterable[Endpoint]) -> list[str]:
        """Return the hosts among endpoints that are this machine."""
        return [host for host, _ in named if host and self.is_own_host(host)]

    def _sends_on(self, call: Sequence[Word], *, writes: bool) -> bool:
        """Return True if a changing call forwards or cuts the connections to a port."""
        name = program_name(call).casefold()
        if name in {"ssh", "kubectl", "oc"}:
            return writes and any(_FORWARDING.match(word.text) for word in call[1:])
        if name == "ss":
            return any(word.text in {"-K", "--kill"} for word in call[1:])
        return writes and name in _FORWARDERS

    def _connects_here(self, call: Sequence[Word]) -> bool:
        """Return True if an own port is the value of an option, and no word names a host, so that
        the program connects to this machine."""
        node = self._tables.get(program_name(call))
        connects = node.connects if node is not None else None
        if connects is None or not connects.ports:
            return False
        if not {place for place, _ in connects.otherwise} & {LOCAL, CONFIGURED}:
            return False
        texts = [word.text for word in call[1:]]
        if any(_names_place(text, connects) for text in texts):
            return False
        return any(
            text[:1] == "-" and self._own_ports(parse_endpoints([*command_tokens([text]), behind]))
            for text, behind in zip(texts, [*texts[1:], ""], strict=True)
        )


def names_of_hosts_file(text: str, addresses: Iterable[str]) -> Iterator[str]:
    """Yield the names that the lines of a hosts file give to a loopback address or to one of
    `addresses`."""
    own = frozenset(filter(None, map(parse_address, addresses)))
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        found = parse_address(address)
        if found is not None and (found.is_loopback or found in own):
            yield from names


def _names_place(text: str, connects: Connects) -> bool:
    """Return True if a word names a host: by an option of the table, or as an address."""
    options = {name for source in connects.sources for name in source.options}
    given = text.partition("=")[0] in options or (text[:2] in options and text[1:2] != "-")
    return given or _PLACE_NAMED.search(text) is not None
