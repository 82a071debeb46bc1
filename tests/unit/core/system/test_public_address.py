"""An address is public unless one of its spellings is private (spec §17)."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.system.public_address import is_public


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "::1"),
        *("169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"),
        *("224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "::", "192.0.2.1"),
        # The same in disguise: mapped, translated, tunnelled.
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::", "2001:0:7f00:1::", "::ffff:168.63.129.16"),
    ],
)
def test_addresses_of_this_machine_and_its_networks_are_not_public(text):
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet_are_public(text):
    assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=4))
def test_an_address_in_a_wrapper_is_no_more_public_than_itself(address):
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert is_public(mapped) == is_public(address)
