"""Web tools against real loopback servers, plain and with TLS."""

import contextlib
import ssl
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

TLS = Path(__file__).resolve().parents[1] / "fixtures" / "tls"
HEALTH = "web/health/http_health"
EXPIRY = "web/tls/certificate_expiry"


MOVED = {
    "/moved": "/",
    "/loop": "/loop",
    "/ftp": "ftp://127.0.0.1/etc/passwd",
    "/file": "file:///etc/passwd",
    "/port": "http://127.0.0.1:99999/",
    "/bracket": "http://[1/",
}


class Site(BaseHTTPRequestHandler):
    """A few pages that behave well or badly."""

    pause = threading.Event()

    def do_GET(self):
        match self.path:
            case page if page in MOVED:
                self.answer(302, {"Location": MOVED[page]})
            case "/downgrade":
                self.answer(
                    302, {"Location": f"http://127.0.0.1:{self.connection.getsockname()[1]}/"}
                )
            case "/broken":
                self.answer(500, {}, b"oh no")
            case "/big":
                self.answer(200, {}, b"x" * (3 << 20))
            case "/cut":
                self.answer(200, {"Content-Length": "99"}, b"half")
            case "/slow":
                self.pause.wait(5)
                self.answer(200, {})
            case _:
                self.answer(200, {"Content-Type": "text/plain"}, "Grüße, all is well".encode())

    do_HEAD = do_GET

    def answer(self, status, headers, body=b""):
        # A client that has seen enough may hang up.
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    def log_message(self, *_):
        pass


class Quiet(ThreadingHTTPServer):
    """A handshake that a test breaks off on purpose is no news."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


@contextlib.contextmanager
def serving(certificate=None):
    Site.pause.clear()
    with Quiet(("127.0.0.1", 0), Site) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, TLS / "localhost.key")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_port
        finally:
            Site.pause.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def site():
    with serving() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def secure():
    with serving(TLS / "localhost.pem") as port:
        yield port


# --- URL health


def test_a_healthy_page_is_ok_with_its_figures(load, site):
    result = load(HEALTH).run(site + "/", contains="Grüße", expect_status=200)
    assert (result["ok"], result["status"], result["error"]) == (True, 200, None)
    assert result["content_type"] == "text/plain"
    assert result["bytes"] == len("Grüße, all is well".encode())
    assert 0 < result["first_byte_ms"] <= result["milliseconds"]


@pytest.mark.parametrize(
    ("page", "arguments", "error"),
    [
        ("/broken", {}, "status is 500, expected 200 to 299"),
        ("/", {"expect_status": 204}, "status is 200, expected 204"),
        ("/", {"contains": "maintenance"}, "the page does not contain the expected text"),
        ("/", {"max_milliseconds": 0.0001}, "the answer took longer than allowed"),
        ("/moved", {"follow_redirects": False}, "status is 302, expected 200 to 299"),
        ("/slow", {"timeout_seconds": 0.2}, "no answer within 0.2 seconds"),
    ],
)
def test_an_unhealthy_page_says_why(load, site, page, arguments, error):
    result = load(HEALTH).run(site + page, **arguments)
    assert result["ok"] is False
    assert result["error"].replace("complete answer", "answer") == error


def test_an_expected_error_page_is_ok(load, site):
    result = load(HEALTH).run(site + "/broken", expect_status=500, contains="oh no")
    assert (result["ok"], result["bytes"]) == (True, 5)


def test_redirects_are_followed_and_remembered(load, site):
    result = load(HEALTH).run(site + "/moved")
    assert (result["ok"], result["final_url"]) == (True, site + "/")
    assert result["redirects"] == [site + "/moved"]


@pytest.mark.parametrize("page", ["/ftp", "/file"])
def test_a_redirect_never_leaves_http(load, site, page):
    result = load(HEALTH).run(site + page)
    assert (result["ok"], result["bytes"]) == (False, 0)
    assert "was not followed" in result["error"]
    assert load(HEALTH).run(site + page, expect_status=302)["ok"] is False


@pytest.mark.parametrize("page", ["/port", "/bracket"])
def test_a_redirect_to_an_impossible_address_is_a_result(load, site, page):
    result = load(HEALTH).run(site + page)
    assert result["ok"] is False
    assert result["error"]


def test_a_redirect_loop_ends(load, site):
    result = load(HEALTH).run(site + "/loop")
    assert (result["ok"], result["status"]) == (False, 302)
    assert len(result["redirects"]) < 20
    assert "infinite loop" in result["error"]


def test_a_page_is_read_up_to_a_megabyte(load, site):
    result = load(HEALTH).run(site + "/big")
    assert result["ok"] is True
    assert 1 << 20 <= result["bytes"] < (1 << 20) + 65_536


def test_head_asks_for_no_body(load, site):
    result = load(HEALTH).run(site + "/", method="HEAD")
    assert (result["ok"], result["bytes"]) == (True, 0)


def test_an_answer_that_breaks_off_is_not_ok(load, site):
    result = load(HEALTH).run(site + "/cut", timeout_seconds=1)
    assert (result["ok"], result["bytes"]) == (False, 4)
    assert result["error"] == "the answer broke off 95 bytes before its end"


def test_an_untrusted_certificate_fails_unless_that_is_allowed(load, secure):
    url = f"https://127.0.0.1:{secure}/"
    strict = load(HEALTH).run(url)
    assert (strict["ok"], strict["status"]) == (False, None)
    assert "certificate" in strict["error"] or "self-signed" in strict["error"]
    assert load(HEALTH).run(url, verify_tls=False)["ok"] is True


def test_a_redirect_from_https_to_http_is_refused(load, secure):
    result = load(HEALTH).run(f"https://127.0.0.1:{secure}/downgrade", verify_tls=False)
    assert result["ok"] is False
    assert result["error"] == "redirect from https to http was not followed"


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "file:///etc/passwd"},
        {"url": "ftp://127.0.0.1/"},
        {"url": "example.org"},
        {"url": "http://"},
        {"url": "http://127.0.0.1:99999/"},
        {"url": "http://[::1/"},
        {"url": "http://127.0.0.1/a b"},
        {"url": "http://bücher.example/"},
        {"url": "http://127.0.0.1/", "method": "POST"},
        {"url": "http://127.0.0.1/", "timeout_seconds": 0},
    ],
)
def test_a_url_or_method_that_is_not_allowed_is_refused(load, arguments):
    with pytest.raises(ValueError, match=r"give|percent-encode"):
        load(HEALTH).run(**arguments)


def test_a_password_in_a_url_is_refused_and_not_repeated(load):
    with pytest.raises(ValueError, match="user name") as caught:
        load(HEALTH).run("https://ada:hunter2@example.org/")
    assert "hunter2" not in str(caught.value)


# --- certificates


def test_the_certificate_of_a_site_is_read_though_it_is_not_trusted(load, secure):
    result = load(EXPIRY).run(host="localhost", port=secure)
    (row,) = result["rows"]
    assert (row["subject"], row["names"], row["state"]) == ("localhost", ["localhost"], "valid")
    assert result["not_after"] == "2100-01-01T00:00:00+00:00"
    assert (result["ok"], result["trusted"]) == (True, False)
    assert "self" in result["error"]


def test_a_site_is_trusted_through_its_own_authority_and_for_its_name_alone(load, secure):
    tool, trust = load(EXPIRY), str(TLS / "localhost.pem")
    result = tool.run(host="localhost", port=secure, ca_file=trust)
    assert (result["trusted"], result["error"]) == (True, None)
    result = tool.run(host="127.0.0.2", port=secure, ca_file=trust)
    assert (result["trusted"], result["ok"]) in [(False, True), (None, False)]


def test_a_site_that_speaks_no_tls_is_a_result(load, site):
    result = load(EXPIRY).run(host="127.0.0.1", port=int(site.rpartition(":")[2]))
    assert (result["ok"], result["rows"], result["trusted"]) == (False, [], None)
    assert result["error"].startswith("127.0.0.1 port ")


@pytest.mark.parametrize(
    ("as_of", "state", "ok"),
    [
        ("2022-12-31T23:59:59", "not yet valid", False),
        ("2023-06-01T00:00:00+02:00", "valid", True),
        ("2023-12-02", "valid", True),
        ("2023-12-03", "expiring", False),
        ("2024-01-01T00:00:01", "expired", False),
    ],
)
def test_a_certificate_file_is_judged_by_the_given_day(load, as_of, state, ok):
    result = load(EXPIRY).run(file=str(TLS / "expired.pem"), as_of=as_of)
    assert (result["rows"][0]["state"], result["ok"]) == (state, ok)
    assert result["rows"][0]["names"] == ["shop.example", "www.shop.example"]
    assert result["trusted"] is None


def test_of_several_certificates_the_first_to_run_out_counts(load, tmp_path):
    chain = tmp_path / "chain.pem"
    texts = [(TLS / name).read_text(encoding="ascii") for name in ("localhost.pem", "expired.pem")]
    chain.write_text("a comment\n" + "".join(texts), encoding="ascii")
    result = load(EXPIRY).run(file=str(chain), as_of="2025-01-01")
    assert [row["state"] for row in result["rows"]] == ["valid", "expired"]
    assert (result["not_after"], result["days_left"]) == ("2024-01-01T00:00:00+00:00", -366.0)
    assert result["ok"] is False


def test_der_and_pem_agree_with_what_openssl_reads(load, tmp_path):
    der = tmp_path / "c.der"
    der.write_bytes(ssl.PEM_cert_to_DER_cert((TLS / "expired.pem").read_text(encoding="ascii")))
    tool = load(EXPIRY)
    assert tool.run(file=str(der)) == tool.run(file=str(TLS / "expired.pem")) | {
        "days_left": pytest.approx(tool.run(file=str(der))["days_left"], abs=0.2),
        "rows": tool.run(file=str(der))["rows"],
    }
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(TLS / "expired.pem")
    (known,) = context.get_ca_certs()
    expires = ssl.cert_time_to_seconds(str(known["notAfter"]))
    row = tool.run(file=str(der))["rows"][0]
    assert datetime.fromisoformat(row["not_after"]).timestamp() == expires


def test_every_authority_of_this_machine_is_read_as_openssl_reads_it(load):
    context = ssl.create_default_context()
    pairs = list(zip(context.get_ca_certs(True), context.get_ca_certs(), strict=True))
    if not pairs:
        pytest.skip("this machine has no certificate authorities installed")
    tool = load(EXPIRY)
    for der, known in pairs:
        found = tool._certificate(der)
        assert found["after"].timestamp() == ssl.cert_time_to_seconds(str(known["notAfter"]))
        assert found["before"].timestamp() == ssl.cert_time_to_seconds(str(known["notBefore"]))
        names = {str(pair[1]) for group in known["subject"] for pair in group}
        assert found["subject"] in names | {""}


def test_years_of_two_digits_turn_at_fifty(load):
    read = load(EXPIRY)._time
    assert read(0x17, b"491231235959Z") == datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert read(0x17, b"500101000000Z").year == 1950
    assert read(0x18, b"99991231235959Z") - timedelta(days=1) < datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize("cut", [1, 2, 5, 40, 200, 300])
def test_a_damaged_certificate_is_refused_not_guessed(load, tmp_path, cut):
    der = ssl.PEM_cert_to_DER_cert((TLS / "expired.pem").read_text(encoding="ascii"))
    (tmp_path / "cut").write_bytes(der[:cut])
    with pytest.raises(ValueError, match=r"no X\.509 certificate"):
        load(EXPIRY).run(file=str(tmp_path / "cut"))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"host": "x", "file": "y"},
        {"host": "x", "port": 0},
        {"file": str(TLS / "localhost.key")},
        {"file": str(TLS / "localhost.pem"), "as_of": "soon"},
    ],
)
def test_certificate_expiry_refuses_bad_arguments(load, arguments):
    with pytest.raises(ValueError, match="give"):
        load(EXPIRY).run(**arguments)


def test_a_missing_certificate_file_raises_the_oserror_itself(load, tmp_path):
    with pytest.raises(FileNotFoundError):
        load(EXPIRY).run(file=str(tmp_path / "absent.pem"))
