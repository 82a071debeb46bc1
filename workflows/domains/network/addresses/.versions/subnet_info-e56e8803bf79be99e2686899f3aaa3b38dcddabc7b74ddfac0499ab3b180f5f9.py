"""Work out a subnet: network, broadcast, mask, number of hosts, membership and splitting.

Pure arithmetic for IPv4 and IPv6, nothing is sent. An address with a prefix length such as
`192.168.1.77/26` is taken as the network it lies in. `usable_hosts` leaves out the network and the
broadcast address of IPv4; a /31 has two usable addresses (RFC 3021) and a /32 one. IPv6 has no
broadcast address. Give `split_prefix` to cut the network into smaller ones of that length.

Args:
    network (str): A network such as `10.0.0.0/8`, `10.1.2.3/255.255.0.0` or `2001:db8::/48`.
    address (str): An address to look for in the network; empty means none.
    split_prefix (int): Prefix length of the parts to split into; 0 means no split.
    limit (int): How many parts to return at most, 1 to 10000.

Returns:
    network (str): Network address with prefix length.
    version (int): 4 or 6.
    prefix (int): Prefix length.
    netmask (str): The mask.
    wildcard (str): The inverted mask, as access lists want it.
    broadcast (str): The broadcast address; null for IPv6 and for /31 and /32.
    first_host (str): The first usable address.
    last_host (str): The last usable address.
    addresses (int): How many addresses there are.
    usable_hosts (int): How many of them hosts can have.
    private (bool): Whether the network is not for the public internet.
    contains (bool): Whether the given address lies inside; null where none was given.
    parts (int): How many parts the split gives, 0 without one.
    rows (list[dict[str, Any]]): One a part, in order: `network`, `first_host`, `last_host`,
        `usable_hosts`.

Side effects:
    none

Kind: read

Effects:
    paths: none
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: the network of an address, cut in two
      inputs: {network: 192.168.1.77/26, address: 192.168.1.130, split_prefix: 27}
      output:
        network: 192.168.1.64/26
        version: 4
        prefix: 26
        netmask: 255.255.255.192
        wildcard: 0.0.0.63
        broadcast: 192.168.1.127
        first_host: 192.168.1.65
        last_host: 192.168.1.126
        addresses: 64
        usable_hosts: 62
        private: true
        contains: false
        parts: 2
        rows:
          - {network: 192.168.1.64/27, first_host: 192.168.1.65, last_host: 192.168.1.94,
             usable_hosts: 30}
          - {network: 192.168.1.96/27, first_host: 192.168.1.97, last_host: 192.168.1.126,
             usable_hosts: 30}
    - title: an IPv6 network and an address inside
      inputs: {network: "2001:db8::/126", address: "2001:db8::2"}
      output: {network: "2001:db8::/126", contains: true, broadcast: null, addresses: 4, ...: ...}
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import islice
from typing import Any

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def run(network: str, address: str = "", split_prefix: int = 0, limit: int = 256) -> dict[str, Any]:
    """Answer every question about one network at once."""
    try:
        net = ipaddress.ip_network(network.strip(), strict=False)
    except ValueError as error:
        raise ValueError(
            f"network {network!r} is none ({error}): give it like 10.0.0.0/8 or 2001:db8::/48"
        ) from None
    if not 1 <= limit <= 10_000:
        raise ValueError(f"limit {limit} is out of range: give 1 to 10000 parts")
    if split_prefix and not net.prefixlen <= split_prefix <= net.max_prefixlen:
        raise ValueError(
            f"split_prefix {split_prefix} does not split {net}: "
            f"give {net.prefixlen} to {net.max_prefixlen}, or 0"
        )
    first, last, usable = _hosts(net)
    broadcast = net.version == 4 and net.prefixlen < 31
    return {
        "network": str(net),
        "version": net.version,
        "prefix": net.prefixlen,
        "netmask": str(net.netmask),
        "wildcard": str(net.hostmask),
        "broadcast": str(net.broadcast_address) if broadcast else None,
        "first_host": first,
        "last_host": last,
        "addresses": net.num_addresses,
        "usable_hosts": usable,
        "private": net.is_private,
        "contains": _inside(address, net) if address else None,
        "parts": 1 << (split_prefix - net.prefixlen) if split_prefix else 0,
        "rows": [_part(part) for part in islice(_split(net, split_prefix), limit)],
    }


def _hosts(net: Network) -> tuple[str, str, int]:
    """First and last usable address and how many there are."""
    if net.version == 4 and net.prefixlen < 31:
        first, last = net.network_address + 1, net.broadcast_address - 1
        return str(first), str(last), net.num_addresses - 2
    return str(net.network_address), str(net.broadcast_address), net.num_addresses


def _split(net: Network, prefix: int) -> Iterator[Network]:
    if prefix:
        yield from net.subnets(new_prefix=prefix)


def _inside(address: str, net: Network) -> bool:
    try:
        return ipaddress.ip_address(address.strip()) in net
    except ValueError:
        raise ValueError(
            f"address {address!r} is no IP address: give one like 10.0.0.1 or 2001:db8::1"
        ) from None


def _part(part: Network) -> dict[str, Any]:
    first, last, usable = _hosts(part)
    return {
        "network": str(part),
        "first_host": first,
        "last_host": last,
        "usable_hosts": usable,
    }
