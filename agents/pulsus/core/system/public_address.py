"""Decide which IP addresses belong to the public internet (spec §17). Pure.

Loopback, private, link-local, shared, multicast and reserved addresses do not, nor does the
metadata address of a cloud. `core/sandbox/connect_to_public_host.py` refuses the others. Addresses
that a shell command may reach are decided in `gates/egress.py`.
"""

from __future__ import annotations

import ipaddress

from pulsus.config.host_names import Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_CARRIES_V4 = (ipaddress.IPv6Network("2002::/16"), ipaddress.IPv6Network("2001::/32"))
# A public address by its number, but the service that tells a virtual machine its secrets.
_METADATA = frozenset({ipaddress.IPv4Address("168.63.129.16")})


def is_public(found: Address) -> bool:
    """Return True for an address of the public internet, also if it is wrapped in another.

    An address at which a cloud tells its machines their secrets is not public.
    """
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return is_public(found.ipv4_mapped)
        if found in _NAT64:
            return is_public(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
        if any(found in network for network in _CARRIES_V4):
            return False
    return found.is_global and not found.is_multicast and found not in _METADATA
