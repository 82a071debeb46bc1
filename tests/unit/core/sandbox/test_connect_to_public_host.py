"""Names are looked up outside the sandbox, and lead nowhere private (spec §17)."""

import socket

import pytest

from pulsus.core.sandbox.connect_to_public_host import HostNotAllowed, connect_to


def names(monkeypatch, *addresses):
    """Let every name be one of these addresses; gives the connections that were tried."""
    tried = []

    def look_up(host, port, **_options):
        return [(None, None, None, "", (address, port)) for address in addresses]

    class Socket(socket.socket):
        def connect(self, address):
            tried.append(address)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "socket", Socket)
    return tried


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:127.0.0.1"],
)
def test_an_allowed_name_that_leads_into_this_machine_or_its_networks_is_refused(
    monkeypatch, address
):
    tried = names(monkeypatch, address)
    with pytest.raises(HostNotAllowed, match="not on the public internet"):
        connect_to("api.example.org:443")
    assert tried == []


def test_of_a_name_with_both_only_the_public_address_is_tried(monkeypatch):
    tried = names(monkeypatch, "127.0.0.1", "1.1.1.1", "10.0.0.1")
    connect_to("api.example.org:443").close()
    assert tried == [("1.1.1.1", 443)]


def test_the_connected_address_is_the_checked_one(monkeypatch):
    """A name that gives another address each time is asked for one only once."""
    answers = iter(["1.1.1.1", "127.0.0.1"])
    tried = names(monkeypatch)
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda h, p, **_: [(0, 0, 0, "", (next(answers), p))]
    )
    connect_to("api.example.org:443").close()
    assert tried == [("1.1.1.1", 443)]
    assert next(answers) == "127.0.0.1"


def test_a_private_address_is_reached_where_it_stands_in_the_list_itself():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        connect_to(f"127.0.0.1:{server.getsockname()[1]}") as made,
    ):
        assert made.getpeername() == server.getsockname()


def test_the_next_address_is_tried_where_one_does_not_answer(monkeypatch):
    tried = names(monkeypatch, "1.1.1.1", "1.0.0.1")

    def connect(self, address):
        tried.append(address)
        if address[0] == "1.1.1.1":
            raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    connect_to("api.example.org:443").close()
    assert [host for host, _ in tried] == ["1.1.1.1", "1.0.0.1"]


def test_a_name_with_many_dead_addresses_takes_no_longer_than_one(monkeypatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    tried = names(monkeypatch, *(f"1.1.1.{n}" for n in range(99)))

    def connect(self, address):
        tried.append(address)
        raise TimeoutError

    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(TimeoutError):
        connect_to("api.example.org:443")
    assert 1 <= len(tried) < 4
