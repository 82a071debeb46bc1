"""Network tools against loopback servers and captured kernel tables."""

import ipaddress
import os
import socket
import sys
import time

import pytest

LITTLE = pytest.mark.skipif(sys.byteorder != "little", reason="the captured table is little-endian")


@pytest.fixture
def server():
    """Return a listening socket on a free loopback port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def closed():
    """Return a loopback port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


# --- listening ports


def test_listening_ports_finds_our_own_server_with_its_owner(load, server):
    result = load("network/ports/listening_ports").run(protocol="tcp", port=server)
    (row,) = result["rows"]
    assert (row["address"], row["pid"], row["uid"]) == ("127.0.0.1", os.getpid(), os.geteuid())
    assert (row["reach"], result["exposed"]) == ("this machine", [])
    assert row["program"]


def test_listening_ports_finds_a_udp_socket(load):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("0.0.0.0", 0))
        port = udp.getsockname()[1]
        result = load("network/ports/listening_ports").run(protocol="udp", port=port)
    assert [(row["protocol"], row["reach"]) for row in result["rows"]] == [("udp", "everywhere")]
    assert result["exposed"] == [port]


@LITTLE
def test_listening_ports_reads_ipv6_and_passes_over_broken_lines(load, tmp_path):
    zeros, tail = "0" * 32, "00000000:00000000 00:00000000 00000000 33 0 77 1 0"
    mapped = "0000000000000000FFFF00000100007F"
    written(
        tmp_path / "net/tcp6",
        "  sl  local_address\n"
        f"0: {zeros}:01BB {zeros}:0000 0A {tail}\n"
        f"1: 00000000000000000000000001000000:0050 {zeros}:0000 0A {tail}\n"
        f"2: {mapped}:0051 {zeros}:0000 0A {tail}\n"
        f"3: B80D0120000000000000000001000000:0052 {zeros}:0000 0A {tail}\n"
        f"4: XYZ:0016 {zeros}:0000 0A {tail}\n"
        "5: short\n",
    )
    (tmp_path / "12/fd").mkdir(parents=True)
    written(tmp_path / "12/comm", "nginx\n")
    (tmp_path / "12/fd/4").symlink_to("socket:[77]")
    result = load("network/ports/listening_ports").run(proc=str(tmp_path))
    assert [(row["port"], row["address"], row["reach"]) for row in result["rows"]] == [
        (80, "::1", "this machine"),
        (81, "::ffff:127.0.0.1", "this machine")
        if sys.version_info >= (3, 13)
        else (81, "::ffff:7f00:1", "this machine"),
        (82, "2001:db8::1", "one address"),
        (443, "::", "everywhere"),
    ]
    assert {(row["pid"], row["program"]) for row in result["rows"]} == {(12, "nginx")}
    assert result["owners_unknown"] == 0


def test_listening_ports_without_tables_raises_and_bad_arguments_are_refused(load, tmp_path):
    tool = load("network/ports/listening_ports")
    with pytest.raises(FileNotFoundError, match="no socket tables: give"):
        tool.run(proc=str(tmp_path))
    with pytest.raises(ValueError, match="'icmp' is unknown: give"):
        tool.run(protocol="icmp")
    with pytest.raises(ValueError, match="70000 is out of range: give"):
        tool.run(port=70000)


# --- check port


def test_check_port_is_open_where_somebody_listens(load, server):
    result = load("network/ports/check_port").run("127.0.0.1", server)
    assert (result["ok"], result["open"], result["state"]) == (True, True, "open")
    assert result["address"] == "127.0.0.1"
    assert 0 <= result["milliseconds"] < 3000
    assert result["error"] is None


def test_check_port_says_refused(load, closed):
    result = load("network/ports/check_port").run("127.0.0.1", closed)
    assert (result["ok"], result["state"]) == (False, "refused")
    assert "refused" in result["error"]


def test_check_port_says_timeout_when_packets_are_dropped(load):
    # A full accept queue drops further connections, as a firewall would.
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        time.sleep(0.1)
        result = load("network/ports/check_port").run(
            "127.0.0.1", full.getsockname()[1], timeout_seconds=0.3
        )
        for one in waiting:
            one.close()
    assert (result["ok"], result["state"]) == (False, "timeout")
    assert result["error"] == "no answer within 0.3 seconds"


@pytest.fixture
def no_resolver(monkeypatch):
    """Every name is unknown, without a packet sent."""
    real = socket.getaddrinfo

    def getaddrinfo(host, *rest, **options):
        if host == "nowhere.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.usefixtures("no_resolver")
def test_check_port_of_a_name_that_does_not_resolve(load):
    for host in ("nowhere.example", "a..b", "x" * 70):
        result = load("network/ports/check_port").run(host, 80)
        assert (result["ok"], result["state"], result["rows"]) == (False, "unresolved", [])
        assert "does not resolve" in result["error"]


@pytest.mark.parametrize(
    "arguments", [(" ", 80), ("127.0.0.1", 0), ("127.0.0.1", 65536), ("127.0.0.1", 80, 0.0)]
)
def test_check_port_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("network/ports/check_port").run(*arguments)


# --- DNS


@pytest.fixture
def resolver(load, monkeypatch):
    """The look-up tool with a resolver that knows two names."""
    tool = load("network/dns/dns_lookup")

    def getaddrinfo(name, port, family, kind, protocol, flags):
        if name != "www.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        places = [(socket.AF_INET6, ("2001:db8::1", 0, 0, 0)), (socket.AF_INET, ("192.0.2.1", 0))]
        return [
            (found, kind, 6, "web.example" if number == 0 else "", place)
            for number, (found, place) in enumerate(places)
            if family in (socket.AF_UNSPEC, found)
        ]

    monkeypatch.setattr(tool.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(
        tool.socket, "gethostbyaddr", lambda address: ("web.example", [], [address])
    )
    return tool


def test_dns_lookup_of_this_machine_finds_localhost(load):
    result = load("network/dns/dns_lookup").run("localhost", family="ipv4")
    assert result["addresses"] == ["127.0.0.1"]
    assert result["ok"] is True


def test_dns_lookup_gives_both_families_in_the_resolvers_order(resolver):
    result = resolver.run("www.example", expected="2001:0db8:0:0::1")
    assert [(row["family"], row["address"]) for row in result["rows"]] == [
        ("ipv6", "2001:db8::1"),
        ("ipv4", "192.0.2.1"),
    ]
    assert (result["canonical_name"], result["ok"]) == ("web.example", True)
    assert resolver.run("www.example", family="ipv4")["addresses"] == ["192.0.2.1"]


def test_dns_lookup_is_not_ok_without_the_expected_answer(resolver):
    result = resolver.run("www.example", expected="192.0.2.9")
    assert result["ok"] is False
    assert result["error"] == "192.0.2.9 is not among the answers for www.example"
    assert len(result["rows"]) == 2


def test_dns_lookup_of_an_address_gives_its_name(resolver):
    result = resolver.run("2001:DB8::1", expected="WEB.example.")
    assert result["rows"] == [{"address": "2001:db8::1", "family": "ipv6", "name": "web.example"}]
    assert result["ok"] is True


def test_dns_lookup_of_an_unknown_name_is_a_result(resolver):
    result = resolver.run("nowhere.example")
    assert (result["ok"], result["rows"]) == (False, [])
    assert result["error"] == "nowhere.example does not resolve: Name or service not known"


def test_dns_lookup_does_not_wait_for_a_resolver_that_hangs(resolver, monkeypatch):
    def getaddrinfo(*_):
        time.sleep(1)
        return []

    monkeypatch.setattr(resolver.socket, "getaddrinfo", getaddrinfo)
    result = resolver.run("www.example", timeout_seconds=0.05)
    assert (result["ok"], result["rows"]) == (False, [])
    assert "no answer for www.example within 0.05 seconds" in result["error"]
    assert result["milliseconds"] < 900


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": ""},
        {"name": "https://example.org"},
        {"name": "x", "family": "ipx"},
        {"name": "x", "timeout_seconds": 0},
    ],
)
def test_dns_lookup_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("network/dns/dns_lookup").run(**arguments)


# --- routes

HEADING = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
IPV6 = """\
fd000000000000000000000000000000 40 {0} 00 {0} 00000100 00000001 00000000 00000001     eth0
{0} 00 {0} 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0
{0} 00 {0} 00 {0} ffffffff 00000001 00000000 00200200       lo
fe800000000000000000000000000001 80 {0} 00 {0} 00000000 00000002 00000000 80200001     eth0
ff000000000000000000000000000000 08 {0} 00 {0} 00000100 00000002 00000000 00000001     eth0
nonsense
""".format("0" * 32)


def test_route_table_of_this_machine_is_well_formed(load):
    result = load("network/routes/route_table").run()
    assert result["count"] == len(result["rows"])
    for row in result["rows"]:
        assert ipaddress.ip_network(row["destination"]).version == int(row["family"][-1])
    assert result["ok"] is any(row["default"] for row in result["rows"])


@LITTLE
def test_the_default_gateway_is_that_of_the_lowest_metric(load, tmp_path):
    table = written(
        tmp_path / "route",
        HEADING + "wlan0 00000000 0100A8C0 0003 0 0 600 00000000 0 0 0\n"
        "eth0 00000000 FE01A8C0 0003 0 0 100 00000000 0 0 0\n"
        "eth0 0000FEA9 00000000 0001 0 0 1000 0000FFFF 0 0 0\n"
        "eth1 00000A0A 00000000 0000 0 0 0 0000FFFF 0 0 0\n"
        "eth1 0A0A0A0A 00000000 0201 0 0 0 FFFFFFFF 0 0 0\n"
        "broken line\n",
    )
    six = written(tmp_path / "six", IPV6)
    result = load("network/routes/route_table").run(ipv4_routes=table, ipv6_routes=six)
    assert (result["default_gateway"], result["default_interface"]) == ("192.168.1.254", "eth0")
    assert [(row["destination"], row["gateway"], row["metric"]) for row in result["rows"]] == [
        ("0.0.0.0/0", "192.168.1.254", 100),
        ("0.0.0.0/0", "192.168.0.1", 600),
        ("::/0", "fd00::1", 1024),
        ("169.254.0.0/16", None, 1000),
        ("fd00::/64", None, 256),
    ]


def test_a_machine_without_ipv6_or_without_a_default_route_says_so(load, tmp_path):
    tool = load("network/routes/route_table")
    table = written(tmp_path / "route", HEADING)
    absent = str(tmp_path / "absent")
    result = tool.run(ipv4_routes=table, ipv6_routes=absent)
    assert (result["ok"], result["default_gateway"], result["count"]) == (False, None, 0)
    assert "IPv6 is off" in result["error"]
    with pytest.raises(FileNotFoundError):
        tool.run(family="ipv6", ipv6_routes=absent)
    with pytest.raises(ValueError, match="'ipx' is unknown: give"):
        tool.run(family="ipx")


# --- latency


def test_tcp_latency_times_every_connection(load, server):
    result = load("network/latency/tcp_latency").run(
        "127.0.0.1", server, count=4, interval_seconds=0
    )
    assert (result["lost"], result["loss_percent"], result["ok"]) == (0, 0.0, True)
    assert 0 < result["minimum_ms"] <= result["average_ms"] <= result["maximum_ms"]
    assert [row["attempt"] for row in result["rows"]] == [1, 2, 3, 4]
    assert result["jitter_ms"] >= 0


def test_tcp_latency_counts_the_lost_ones(load, server, monkeypatch):
    tool = load("network/latency/tcp_latency")
    real = tool.socket.socket.connect
    calls = iter([None, TimeoutError(), None, ConnectionRefusedError(111, "Connection refused")])

    def connect(self, place):
        if (failure := next(calls)) is not None:
            raise failure
        real(self, place)

    monkeypatch.setattr(tool.socket.socket, "connect", connect)
    result = tool.run("127.0.0.1", server, count=4, interval_seconds=0)
    assert (result["lost"], result["loss_percent"]) == (2, 50.0)
    assert [row["error"] for row in result["rows"]] == [
        None,
        "no answer within 2.0 seconds",
        None,
        "Connection refused",
    ]
    assert result["average_ms"] is not None


def test_tcp_latency_of_one_connection_has_no_jitter(load, server):
    assert load("network/latency/tcp_latency").run("127.0.0.1", server, 1)["jitter_ms"] is None


@pytest.mark.usefixtures("no_resolver")
def test_tcp_latency_of_an_unknown_name_is_all_loss(load):
    result = load("network/latency/tcp_latency").run("nowhere.example", count=3)
    assert (result["address"], result["lost"], result["ok"]) == (None, 3, False)
    assert "does not resolve" in result["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"host": ""},
        {"host": "x", "port": 0},
        {"host": "x", "count": 0},
        {"host": "x", "count": 101},
        {"host": "x", "interval_seconds": -1},
        {"host": "x", "timeout_seconds": 0},
    ],
)
def test_tcp_latency_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("network/latency/tcp_latency").run(**arguments)


# --- subnets


@pytest.mark.parametrize(
    ("network", "first", "last", "usable", "broadcast"),
    [
        ("10.0.0.0/8", "10.0.0.1", "10.255.255.254", 16_777_214, "10.255.255.255"),
        ("192.0.2.4/31", "192.0.2.4", "192.0.2.5", 2, None),
        ("192.0.2.4", "192.0.2.4", "192.0.2.4", 1, None),
        ("2001:db8::/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", 1 << 64, None),
        ("0.0.0.0/0", "0.0.0.1", "255.255.255.254", (1 << 32) - 2, "255.255.255.255"),
    ],
)
def test_subnet_info_knows_the_ends_of_a_network(load, network, first, last, usable, broadcast):
    result = load("network/addresses/subnet_info").run(network)
    assert (result["first_host"], result["last_host"]) == (first, last)
    assert (result["usable_hosts"], result["broadcast"]) == (usable, broadcast)
    assert result["contains"] is None


def test_subnet_info_takes_a_mask_and_tells_membership(load):
    tool = load("network/addresses/subnet_info")
    result = tool.run("10.1.2.3/255.255.0.0", address=" 10.1.200.1 ")
    assert (result["network"], result["wildcard"]) == ("10.1.0.0/16", "0.0.255.255")
    assert result["contains"] is True
    assert tool.run("10.0.0.0/8", address="::1")["contains"] is False


def test_splitting_a_huge_network_is_cut_to_the_limit(load):
    result = load("network/addresses/subnet_info").run("::/0", split_prefix=128, limit=3)
    assert result["parts"] == 1 << 128
    assert [row["network"] for row in result["rows"]] == ["::/128", "::1/128", "::2/128"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"network": "10.0.0.0/33"},
        {"network": ""},
        {"network": "10.0.0.0/8", "address": "10.0.0"},
        {"network": "10.0.0.0/8", "split_prefix": 4},
        {"network": "10.0.0.0/8", "split_prefix": 33},
        {"network": "10.0.0.0/8", "limit": 0},
    ],
)
def test_subnet_info_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load("network/addresses/subnet_info").run(**arguments)


# --- interfaces


def counters(received, sent, errors=0):
    return (
        "Inter-| Receive | Transmit\n face |bytes\n"
        f"    lo: {received} 1 0 0 0 0 0 0 {received} 1 0 0 0 0 0 0\n"
        f"  eth0:{received} 10 {errors} 0 0 0 0 0 {sent} 20 0 4 0 0 0 0\n"
        "  eth1: 1 2 3\n"
        "wg-tün: 1 1 0 0 0 0 0 0 1 1 x 0 0 0 0 0\n"
    )


def test_interface_counters_of_this_machine(load):
    result = load("network/interfaces/interface_counters").run(include_loopback=True)
    assert "lo" in [row["interface"] for row in result["rows"]]
    assert result["rx_bytes"] == sum(row["rx_bytes"] for row in result["rows"])


def test_interface_counters_passes_over_broken_lines_and_keeps_huge_numbers(load, tmp_path):
    path = written(tmp_path / "dev", counters(1 << 63, 7))
    result = load("network/interfaces/interface_counters").run(counters=path)
    (row,) = result["rows"]
    assert (row["interface"], row["rx_bytes"], row["tx_dropped"]) == ("eth0", 1 << 63, 4)
    assert (result["with_errors"], result["with_drops"], result["ok"]) == ([], ["eth0"], True)


def test_interface_counters_gives_rates_over_the_interval(load, tmp_path, monkeypatch):
    path = tmp_path / "dev"
    written(path, counters(1000, 5000))
    tool = load("network/interfaces/interface_counters")
    clock = iter([100.0, 102.0])
    monkeypatch.setattr(tool.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(tool.time, "sleep", lambda _: written(path, counters(4000, 200, errors=3)))
    (row,) = tool.run(interval_seconds=2, interface="eth0", counters=str(path))["rows"]
    assert row["rx_bytes_per_second"] == 1500.0
    assert row["tx_bytes_per_second"] == 100.0  # the counter was reset in between
    assert (row["new_errors"], row["rx_errors"]) == (3, 3)


def test_interface_counters_refuses_what_it_cannot_measure(load, tmp_path):
    tool = load("network/interfaces/interface_counters")
    path = written(tmp_path / "dev", counters(1, 1))
    with pytest.raises(ValueError, match="'eth9' does not exist: give one of eth0, lo"):
        tool.run(interface="eth9", counters=path)
    with pytest.raises(ValueError, match="no network cards: give"):
        tool.run(counters=written(tmp_path / "empty", "heading\n"))
    with pytest.raises(ValueError, match="-1 is out of range: give"):
        tool.run(interval_seconds=-1)
