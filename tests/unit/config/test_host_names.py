"""Settings may allow single hosts with their ports, and nothing wider (spec §17)."""

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


@given(st.text(max_size=40), st.integers(-1, 70000))
def test_no_text_makes_it_fail_otherwise(host, port):
    try:
        entry = host_names.canonical_host(f"{host}:{port}")
    except ValueError:
        return
    assert host_names.canonical_host(entry) == entry
    assert host_names.split_host_port(entry)[1] == port
