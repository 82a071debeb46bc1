"""Certificates that openssl made are renewed, and their old files are given back."""

import re
import shutil
import subprocess

import pytest

from tests.changes import change, tree, undo

pytestmark = pytest.mark.seconds
RENEW = "web/tls/renew_certificate"
EXPIRY = "web/tls/certificate_expiry"
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(folder, *words):
    done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def self_signed(folder, name, *more):
    """Make NAME.pem and NAME.key, valid for two days."""
    files = ("-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2")
    openssl(folder, "req", "-x509", *EC, *files, "-subj", f"/CN={name}", *more)


@pytest.fixture
def keys(tmp_path):
    """Return a folder with a self-signed certificate, and one of an authority with its chain."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    self_signed(tmp_path, "shop", "-addext", "subjectAltName=DNS:shop.example")
    self_signed(tmp_path, "ca", "-days", "3000")
    openssl(tmp_path, "req", *EC, "-keyout", "db.key", "-out", "db.csr", "-subj", "/CN=db")
    extensions = tmp_path / "db.ext"
    extensions.write_text("subjectAltName=DNS:db.example\nextendedKeyUsage=serverAuth\n")
    signer = ("-CA", "ca.pem", "-CAkey", "ca.key", "-extfile", "db.ext", "-days", "2")
    leaf = openssl(tmp_path, "x509", "-req", "-in", "db.csr", *signer)
    authority = (tmp_path / "ca.pem").read_text(encoding="utf-8")
    (tmp_path / "db.pem").write_text(leaf + authority, encoding="utf-8")
    return tmp_path


def inputs_of(folder, *names, **more):
    places = zip(("path", "key", "authority", "authority_key"), names, strict=False)
    return {key: str(folder / name) for key, name in places} | more


def extensions_of(folder, name):
    return openssl(folder, "x509", "-in", name, "-noout", "-ext", "subjectAltName,extendedKeyUsage")


def test_a_self_signed_certificate_keeps_name_and_key_and_undo_gives_it_back(keys, load):
    file = keys / "shop.pem"
    file.chmod(0o640)
    before = file.read_bytes()
    inputs = inputs_of(keys, "shop.pem", "shop.key", days=90)
    result = change(RENEW, **inputs)
    found = load(EXPIRY).run(file=str(file))
    assert 89 < found["days_left"] <= 90
    assert found["rows"][0]["names"] == ["shop.example"]
    assert file.stat().st_mode & 0o777 == 0o640
    assert result["previous_not_after"] < result["not_after"]
    assert openssl(keys, "verify", "-CAfile", "shop.pem", "shop.pem") == "shop.pem: OK\n"
    undo(RENEW, inputs, result)
    assert file.read_bytes() == before


def test_a_certificate_of_an_authority_keeps_its_extensions_and_chain(keys):
    authority = (keys / "ca.pem").read_bytes()
    extensions = extensions_of(keys, "db.pem")
    serial = openssl(keys, "x509", "-in", "db.pem", "-noout", "-serial")
    inputs = inputs_of(keys, "db.pem", "db.key", "ca.pem", "ca.key")
    change(RENEW, **inputs)
    assert (keys / "db.pem").read_bytes().endswith(authority)
    assert extensions_of(keys, "db.pem") == extensions
    assert openssl(keys, "x509", "-in", "db.pem", "-noout", "-serial") != serial
    checked = openssl(keys, "verify", "-purpose", "sslserver", "-CAfile", "ca.pem", "db.pem")
    assert checked == "db.pem: OK\n"


def test_a_dry_run_shows_the_command_and_changes_nothing(keys, load):
    before = tree(keys)
    result = load(RENEW).run(**inputs_of(keys, "shop.pem", "shop.key"), dry_run=True)
    assert (result["changed"], result["argv"][:2]) == (False, ["openssl", "x509"])
    assert tree(keys) == before


@pytest.mark.parametrize(
    ("names", "more", "reason"),
    [
        (("shop.pem", "ca.key"), {}, "is not the key of the certificate"),
        (("db.pem", "db.key"), {}, "was issued by 'CN = ca'"),
        (("db.pem", "db.key", "ca.pem"), {}, "belong together"),
        (("db.pem", "db.key", "ca.pem", "db.key"), {}, "do not match"),
        (("db.pem", "db.key", "shop.pem", "shop.key"), {}, "but 'CN = ca' issued the certificate"),
        (("shop.key", "shop.key"), {}, "holds no PEM certificate"),
        (("shop.pem", "none.key"), {}, "is no file"),
        (("shop.pem", "shop.key"), {"days": 0}, "days 0 is out of range"),
    ],
)
def test_a_certificate_that_nobody_would_trust_is_never_written(keys, load, names, more, reason):
    before = tree(keys)
    with pytest.raises((ValueError, RuntimeError), match=reason):
        load(RENEW).run(**inputs_of(keys, *names, **more))
    assert tree(keys) == before


def test_an_encrypted_key_is_an_error_and_asks_nobody(keys, load):
    openssl(keys, "pkey", "-in", "shop.key", "-aes256", "-passout", "pass:x", "-out", "locked.key")
    with pytest.raises(RuntimeError, match=re.escape("openssl pkey failed with status 1")):
        load(RENEW).run(**inputs_of(keys, "shop.pem", "locked.key"))
