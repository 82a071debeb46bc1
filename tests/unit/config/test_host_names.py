"""What settings may allow, and which addresses are public (spec §17)."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.config import host_names


@pytest.mark.parametrize(
    ("entry", "form"),
    [
        ("API.Example.org:443", "api.example.org:443"),
        ("example.org.:443", "example.org:443"),
        ("example.org:0443", "example.org:443"),
        ("bücher.example:80", "xn--bcher-kva.example:80"),
        ("XN--BCHER-KVA.example:80", "xn--bcher-kva.example:80"),
        ("192.0.2.1:8080", "192.0.2.1:8080"),
        ("[2001:DB8:0::1]:443", "[2001:db8::1]:443"),
    ],
)
def test_every_spelling_of_a_host_is_compared_in_one_form(entry, form):
    assert host_names.canonical_host(entry) == form
    assert host_names.canonical_host(form) == form


@pytest.mark.parametrize(
    "entry",
    [
        *("example.org", "example.org:", "example.org:0", "example.org:65536", "example.org:http"),
        *("*:443", "*.example.org:443", ":443", "a..b:1", "a b:1", "-a.org:1", "http://a.org:1"),
        *("::1:443", "[::1]", "[::1]443", "[127.0.0.1]:80", "[fe80::1%eth0]:80", "a.org:443/x"),
        *("127.1:80", "2130706433:80", "0x7f000001:80", "0177.0.0.1:80", "1.2.3.4.5:80"),
        *("localhost:80", "a.localhost:80", "LOCALHOST.:80", "a\n.org:1", "a\0.org:1", "a" * 260),
    ],
)
def test_what_names_no_single_host_and_port_is_refused(entry):
    with pytest.raises(ValueError, match=r"port|brackets|host|address|machine|HOST:PORT"):
        host_names.canonical_host(entry)


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
    assert not host_names.is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet_are_public(text):
    assert host_names.is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=4))
def test_an_address_in_a_wrapper_is_no_more_public_than_itself(address):
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert host_names.is_public(mapped) == host_names.is_public(address)


@given(st.text(max_size=40), st.integers(-1, 70000))
def test_no_text_makes_it_fail_otherwise(host, port):
    try:
        entry = host_names.canonical_host(f"{host}:{port}")
    except ValueError:
        return
    assert host_names.canonical_host(entry) == entry
    assert host_names.split_host_port(entry)[1] == port
