"""The places (hosts and ports) that one word names, by the kind that a table gives it
(connects_declaration.py).

Each reader gives the places of a word, none where the word names no place. It raises UnknownPlace
if the word may name several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pulsus.commands.destinations.addresses import NetworkPlace, UnknownPlace, has_scheme, host, url
from pulsus.commands.destinations.connection_strings import (
    read_mongo,
    read_mssql,
    read_oracle,
    read_postgres,
    read_socket_or_host,
)
from pulsus.commands.destinations.looked_up_names import (
    read_display_filter,
    read_filter,
    read_remote_port,
    read_socket_address,
    read_socket_filter,
    read_source,
)
from pulsus.commands.program_tables.connects_declaration import CONFIGURED, LOCAL, PLACES

_Reader = Callable[[str], Iterator[NetworkPlace]]


def places(kind: str, text: str) -> Iterator[NetworkPlace]:
    """Yield the places that `text`, a word of this `kind`, names. Raises UnknownPlace."""
    yield from _READERS[kind](text)


def _read_host(text: str) -> Iterator[NetworkPlace]:
    yield host(text)


def _read_name(text: str) -> Iterator[NetworkPlace]:
    """Read a name that is looked up: its words reach the name server."""
    yield NetworkPlace(host(text.removesuffix(".")).host if text != "." else ".")


def _read_url(text: str) -> Iterator[NetworkPlace]:
    yield url(text)


def _read_hosts(text: str) -> Iterator[NetworkPlace]:
    for each in re.split(r"[,\s;]+", text.strip()):
        yield url(each)


def _read_maybe(text: str) -> Iterator[NetworkPlace]:
    """Read an address, or a file of this machine."""
    if has_scheme(text) and not text.lower().startswith("file:///"):
        yield url(text)


def _read_moved(text: str) -> Iterator[NetworkPlace]:
    """Read an address whose server may send the program on to another one, or a file."""
    found = list(_read_inside(text))
    yield from found
    if found:
        raise UnknownPlace(text)


def _read_colon(text: str) -> Iterator[NetworkPlace]:
    """Read `host:file`, or a file of this machine."""
    if has_scheme(text):
        yield from _read_maybe(text)
        return
    before, colon, _ = text.partition(":")
    if colon and "/" not in before:
        yield host(text[: text.index("]:") + 1] if text.startswith("[") else before)


_RECORDS: Final = re.compile(
    r"(?i)(?:(?:a|aaaa|any|axfr|caa|cname|dnskey|ds|hinfo|https|loc|mx|naptr|ns|nsec|nsec3|ptr"
    r"|rrsig|soa|spf|srv|sshfp|svcb|tlsa|txt|type\d+)|in|ch|hs|chaos|hesiod|ixfr=\d+)"
)


def _read_dig(text: str) -> Iterator[NetworkPlace]:
    """Read a word of dig, drill and similar programs: a server, a name, a type or a setting."""
    if text.startswith("@"):
        yield host(text[1:])
    elif text[:1] not in {"+", "-"} and not _RECORDS.fullmatch(text):
        yield from _read_name(text)


def _read_lookup(text: str) -> Iterator[NetworkPlace]:
    """Read a name where options and settings stand too (`nslookup -type=mx name`)."""
    if text[:1] != "-":
        yield from _read_name(text)


def _read_git(text: str) -> Iterator[NetworkPlace]:
    """Read a repository: an address, `host:path`, a folder, or a remote that the repository
    names."""
    if "::" in text.partition("/")[0] and not text.startswith("["):
        raise UnknownPlace(text)
    if text.startswith(("/", "./", "../", "~")) or text in {".", ".."}:
        return
    if has_scheme(text):
        yield from _read_maybe(text)
    elif ":" in text:
        yield from _read_colon(text)
    else:
        yield NetworkPlace(CONFIGURED)


def _read_image(text: str) -> Iterator[NetworkPlace]:
    """Read an image of a registry: `docker://host/name`, `host/name`, or a name of Docker's own."""
    scheme, colon, rest = text.partition("://")
    if not colon:
        scheme, rest = "", text
    local = ("dir:", "oci:", "docker-archive:", "oci-archive:", "containers-storage:")
    if text.startswith((*local, "docker-daemon:", "ostree:", "sif:")):
        return
    first, slash, _ = rest.partition("/")
    if (slash or scheme == "oci") and (re.search(r"[.:]", first) or first == "localhost"):
        yield host(first)
    else:
        yield NetworkPlace("docker.io")


def _read_docker(text: str) -> Iterator[NetworkPlace]:
    if text.startswith(("unix://", "npipe://", "fd://", "/")):
        yield NetworkPlace(LOCAL)
    else:
        yield url(text)


def _read_ldap(text: str) -> Iterator[NetworkPlace]:
    for each in re.split(r"[,\s]+", text.strip()):
        bare = each.lower()
        if bare.startswith("ldapi:") or bare in {"ldap:///", "ldap://", "ldaps:///", "ldaps://"}:
            yield NetworkPlace(LOCAL if bare.startswith("ldapi:") else CONFIGURED)
        else:
            yield url(each)


def _read_finger(text: str) -> Iterator[NetworkPlace]:
    if "@" in text:
        for each in text.split("@")[1:]:
            yield host(each)


def _read_smb(text: str) -> Iterator[NetworkPlace]:
    bare = text.replace("\\", "/").removeprefix("smb:").lstrip("/")
    yield host(bare.partition("/")[0])


def _read_socket(text: str) -> Iterator[NetworkPlace]:
    yield NetworkPlace(LOCAL)


def _read_sockaddr(text: str) -> Iterator[NetworkPlace]:
    """Read a socket's path, or a host."""
    if "://" in text:
        yield from _read_docker(text)
    else:
        yield from read_socket_or_host(text.removeprefix("unix:"))


def _read_context(text: str) -> Iterator[NetworkPlace]:
    """Read a name for another place or person in the client's own configuration."""
    yield NetworkPlace(f"@{text}")


def _read_dynamic(text: str) -> Iterator[NetworkPlace]:
    raise UnknownPlace(text)


def _read_resolve(text: str) -> Iterator[NetworkPlace]:
    """Read a value of curl --resolve: HOST:PORT:ADDRESS,…"""
    pieces = text.lstrip("+-").split(":", 2)
    if len(pieces) < 3:
        return  # `-host:port` removes an entry
    yield from map(host, filter(None, pieces[2].split(",")))


def _read_connect(text: str) -> Iterator[NetworkPlace]:
    """Read a value of curl --connect-to: HOST:PORT:HOST:PORT"""
    found = re.fullmatch(
        r"(?:\[[^\]]*\]|[^:]*):[^:]*:(?P<host>\[[^\]]*\]|[^:]*):(?P<port>\d*)", text
    )
    if found is None:
        raise UnknownPlace(text)
    if found["host"]:
        yield host(f"{found['host']}:{found['port']}" if found["port"] else found["host"])


def _read_cloud(text: str) -> Iterator[NetworkPlace]:
    """Read a bucket or address among the words of a cloud's client."""
    if has_scheme(text):
        yield url(text)


def _read_pattern(text: str) -> Iterator[NetworkPlace]:
    """Read a host. Raises UnknownPlace for a range of hosts (`10.0.0.0/24`, `web[1-9]`)."""
    if re.search(r"[/*,\[{]|\d-\d", text) and not text.startswith("["):
        raise UnknownPlace(text)
    yield host(text)


_INSIDE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"`,;|)<>]*")


def _read_inside(text: str) -> Iterator[NetworkPlace]:
    """Read addresses anywhere in a text (SQL, a list of files)."""
    for found in _INSIDE.findall(text):
        if not found.lower().startswith("file:///"):
            yield url(found)


def _read_forge(text: str) -> Iterator[NetworkPlace]:
    """Read a repository as gh names it: `owner/name`, `host/owner/name` or an address."""
    if has_scheme(text) or text.count("/") > 1:
        yield url(text)
    else:
        yield NetworkPlace(CONFIGURED)


def _read_module(text: str) -> Iterator[NetworkPlace]:
    """Read a Go module: the first part of its path is a host, if it has a dot."""
    first = text.partition("/")[0].partition("@")[0]
    if "." in first.strip("."):
        yield host(first)


def _read_httpie(text: str) -> Iterator[NetworkPlace]:
    """Read a word of http or xh: a method, an address, or an item of the request."""
    if text.startswith(":"):
        here = url(f"{LOCAL}{text}" if text[1:2].isdigit() else f"{LOCAL}{text[1:]}")
        yield NetworkPlace(LOCAL, here.port)
    elif text not in {"GET", "HEAD", "OPTIONS"} and "==" not in text:
        yield url(text)


def _read_remote(text: str) -> Iterator[NetworkPlace]:
    """Read `remote:path`, where the remote is one of the user's own configuration."""
    name, colon, _ = text.partition(":")
    if colon and "/" not in name:
        if not name or "," in name:
            raise UnknownPlace(text)
        yield NetworkPlace(f"@{name}")


def _read_qemu(text: str) -> Iterator[NetworkPlace]:
    """Read a disk image: a file, or a protocol and what it names."""
    protocol, colon, _ = text.partition(":")
    if colon and "/" not in protocol and protocol != "file":
        yield url(text) if has_scheme(text) else _refuse_unclear(text)


def _refuse_unclear(text: str) -> NetworkPlace:
    raise UnknownPlace(text)


def _read_restic(text: str) -> Iterator[NetworkPlace]:
    """Read a repository of restic: a folder, `sftp:host:/folder`, `rest:http://host`,
    `s3:host/name`."""
    kind, colon, rest = text.partition(":")
    if not colon or "/" in kind:
        return
    if kind == "rclone":
        yield from _read_remote(rest)
    elif has_scheme(rest):
        yield url(rest)
    elif kind == "sftp":
        yield from _read_colon(rest)
    elif kind in {"azure", "gs", "swift", "b2"}:
        yield NetworkPlace(f"@{rest.partition(':')[0]}")
    else:
        yield url(rest) if kind == "s3" else _refuse_unclear(text)


def _read_snmp(text: str) -> Iterator[NetworkPlace]:
    """Read an agent of SNMP: `host`, `udp:host:161`, or a socket."""
    bare = re.sub(r"(?i)^(udp6?|tcp6?|tls|dtls|ssh|udpv6|tcpv6)(cp)?:", "", text)
    if bare.lower().startswith(("unix:", "/")):
        yield NetworkPlace(LOCAL)
    else:
        yield host(bare)


def _read_libvirt(text: str) -> Iterator[NetworkPlace]:
    """Read `qemu:///system` as this machine, `qemu+ssh://host/system` as that host."""
    if re.fullmatch(r"[a-z]+(\+unix)?:///[a-z]*|test:///[\w/.-]+", text):
        yield NetworkPlace(LOCAL)
    elif has_scheme(text) and ":///" not in text:
        yield url(text)
    else:
        raise UnknownPlace(text)


def _read_display(text: str) -> Iterator[NetworkPlace]:
    """Read an X display: `:0` is here, `host:0` there."""
    name = text.rpartition(":")[0].removeprefix("tcp/")
    yield NetworkPlace(LOCAL) if name in {"", "unix"} else host(name)


def _read_browse(text: str) -> Iterator[NetworkPlace]:
    """Read what a browser opens: a file by its whole path, or an address."""
    if not re.match(r"(?i)(file:/)?/[^/]", text):
        yield url(text)


def _read_node(text: str) -> Iterator[NetworkPlace]:
    """Read `host:port` alone, as `redis-cli --cluster` has it."""
    if re.fullmatch(r"[\w.-]+:\d+", text):
        yield host(text)


def _read_ovs(text: str) -> Iterator[NetworkPlace]:
    """Read a database of Open vSwitch: `unix:FILE`, `tcp:HOST:PORT`."""
    for each in text.split(","):
        kind, _, rest = each.partition(":")
        yield host(rest) if kind in {"tcp", "ssl"} else NetworkPlace(LOCAL)


def _read_zone(text: str) -> Iterator[NetworkPlace]:
    """Read a mail address or a domain: the domain's name servers are asked."""
    yield from _read_name(text.rpartition("@")[2])


def _read_account(text: str) -> Iterator[NetworkPlace]:
    """Read a user or group: the directory that this machine is set to is asked, if files have no
    such name."""
    if text:
        yield NetworkPlace(CONFIGURED)


_INET: Final = re.compile(r"/inet[46]?/[^/]*/[^/]*/(?P<host>[^/]+)/(?P<port>[0-9]{1,5})")


def _read_inet(text: str) -> Iterator[NetworkPlace]:
    """Read a file of awk: GNU awk connects for names such as `/inet/tcp/0/HOST/PORT`."""
    if not text.startswith("/inet"):
        return
    found = _INET.fullmatch(text)
    if found is None:
        raise UnknownPlace(text)
    yield NetworkPlace(host(found["host"]).host, int(found["port"]))


_read_filter, _read_display_filter = read_filter, read_display_filter
_read_source, _read_remote_port = read_source, read_remote_port
_read_socket_filter, _read_socket_address = read_socket_filter, read_socket_address
_read_urls, _read_relay, _read_rsync = _read_hosts, _read_url, _read_colon
_read_gateway = _read_hosts
_read_mongo, _read_postgres = read_mongo, read_postgres
_read_mssql, _read_oracle = read_mssql, read_oracle
_READERS: Final[Mapping[str, _Reader]] = {kind: globals()[f"_read_{kind}"] for kind in PLACES}
"""A reader is named after its kind, so a kind without a reader fails at import."""
