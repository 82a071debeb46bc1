"""Log-ins, permissions, checksums, keys."""

import base64
import gzip
import hashlib
import os
from pathlib import Path

import pytest

AUTH = """\
Mar  1 10:00:00 h sshd[1]: Failed password for invalid user a b from 192.0.2.7 port 9 ssh2
Mar  1 10:00:01 h sshd[1]: message repeated 4 times: [ Failed password for root from 192.0.2.7 \
port 9 ssh2]
2025-03-01T10:00:02.1+00:00 h sshd-session[1]: Failed publickey for ada from 2001:db8::1 port 9
Mar  1 10:00:03 h su: pam_unix(su:auth): authentication failure; logname= uid=1 euid=0 \
tty=/dev/pts/1 ruser=ada rhost=  user=root
Mar  1 10:00:04 h sshd[1]: Accepted password for root from 192.0.2.7 port 9 ssh2
Mar  1 10:00:05 h sshd[1]: Accepted publickey for ada from 192.0.2.9 port 9 ssh2
Mar  1 10:00:06 h CRON[9]: session opened
"""


def test_failed_logins_counts_repeats_and_names_the_break_in(load, tmp_path):
    log = tmp_path / "auth.log"
    log.write_text(AUTH, encoding="utf-8")
    result = load("security/logins/failed_logins").run(str(log), threshold=5)
    assert result["users"] == {"root": 5, "a b": 1, "ada": 1}
    assert result["total"] == 7
    assert result["suspicious"] == ["192.0.2.7"]
    assert [entry["user"] for entry in result["accepted_after"]] == ["root"]
    unknown = next(row for row in result["rows"] if row["user"] == "a b")
    assert unknown["invalid_user"] is True


def test_failed_logins_is_not_fooled_by_a_name_that_holds_an_address(load, tmp_path):
    log = tmp_path / "auth.log"
    log.write_text(
        "Mar  1 10:00:00 h sshd[1]: Failed password for invalid user x from 10.0.0.1 port 1 "
        "from 192.0.2.66 port 22 ssh2\n",
        encoding="utf-8",
    )
    result = load("security/logins/failed_logins").run(str(log))
    assert result["sources"] == {"192.0.2.66": 1}


def test_failed_logins_reads_saved_lastb_output(load, tmp_path):
    log = tmp_path / "lastb.gz"
    text = (
        "root     ssh:notty    192.0.2.7        Sat Mar  1 10:00 - 10:00  (00:00)\n"
        "         ssh:notty    192.0.2.7        Sat Mar  1 10:01 - 10:01  (00:00)\n"
        "ada      tty1                          Sat Mar  1 10:02 - 10:02  (00:00)\n"
        "\nbtmp begins Sat Mar  1 10:00:00 2025\n"
    )
    with gzip.open(log, "wt", encoding="utf-8") as stream:
        stream.write(text)
    result = load("security/logins/failed_logins").run(str(log))
    assert result["users"] == {"root": 1, "(none)": 1, "ada": 1}
    assert result["sources"] == {"192.0.2.7": 2, "tty1": 1}
    with pytest.raises(ValueError, match="at least 1"):
        load("security/logins/failed_logins").run(str(log), threshold=0)


def test_risky_permissions_finds_each_risk_and_spares_sticky_folders(load, tmp_path):
    names = {"open.txt": 0o666, "suid": 0o4755, "sgid": 0o2755, "locking": 0o2644, "fine": 0o644}
    for name, mode in names.items():
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    for name, mode in {"shared": 0o777, "sticky": 0o1777}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to(tmp_path / "open.txt")
    result = load("security/files/risky_permissions").run(str(tmp_path))
    found = [(Path(row["path"]).name, row["risk"], row["mode"]) for row in result["rows"]]
    assert found == [
        ("suid", "setuid", "4755"),
        ("sgid", "setgid", "2755"),
        ("open.txt", "world_writable", "0666"),
        ("shared", "world_writable", "0777"),
    ]
    assert result["scanned"] == 9
    assert result["counts"]["world_writable"] == 2


def test_risky_permissions_limits_the_list_and_not_the_counts(load, tmp_path):
    for number in range(10):
        (tmp_path / f"f{number}").touch()
        (tmp_path / f"f{number}").chmod(0o666)
    tool = load("security/files/risky_permissions")
    result = tool.run(str(tmp_path), limit=3)
    assert len(result["rows"]) == 3
    assert result["counts"]["world_writable"] == 10
    with pytest.raises(NotADirectoryError):
        tool.run(str(tmp_path / "f1"))


def test_risky_permissions_lists_folders_it_may_not_read(load, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o000)
    if os.access(tmp_path / "closed", os.R_OK):
        pytest.skip("this user may read every folder")
    result = load("security/files/risky_permissions").run(str(tmp_path))
    assert result["errors"] == [{"path": str(tmp_path / "closed"), "error": "Permission denied"}]


def digest(text, name="sha256"):
    return hashlib.new(name, text.encode()).hexdigest()


def test_verify_checksums_reads_every_form_of_list(load, tmp_path):
    for name in ("plain", "binary", "bsd", "with\nbreak"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "SUMS").write_text(
        f"# release\n{digest('plain')}  plain\n{digest('binary', 'sha512')} *binary\r\n"
        f"SHA1 (bsd) = {digest('bsd', 'sha1')}\n"
        f"\\{digest(chr(10).join(['with', 'break']))}  with\\nbreak\n",
        encoding="utf-8",
    )
    result = load("security/integrity/verify_checksums").run(str(tmp_path / "SUMS"))
    assert result["ok"] is True
    assert result["counts"]["ok"] == 4
    assert {row["algorithm"] for row in result["rows"]} == {"sha1", "sha256", "sha512"}


def test_verify_checksums_never_reads_outside_the_folder_unasked(load, tmp_path):
    (tmp_path / "outside").write_text("x", encoding="utf-8")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link").symlink_to(tmp_path / "outside")
    names = ["../outside", str(tmp_path / "outside"), "link"]
    (tmp_path / "in/SUMS").write_text(
        "".join(f"{digest('x')}  {name}\n" for name in names), encoding="utf-8"
    )
    tool = load("security/integrity/verify_checksums")
    assert tool.run(str(tmp_path / "in/SUMS"))["counts"]["refused"] == 3
    assert tool.run(str(tmp_path / "in/SUMS"), allow_outside=True)["ok"] is True


def test_verify_checksums_is_not_ok_with_a_line_it_cannot_read(load, tmp_path):
    (tmp_path / "a").write_text("a", encoding="utf-8")
    (tmp_path / "SUMS").write_text(f"{digest('a')}  a\nnonsense\n", encoding="utf-8")
    (tmp_path / "NONE").write_text("\n", encoding="utf-8")
    tool = load("security/integrity/verify_checksums")
    result = tool.run(str(tmp_path / "SUMS"))
    assert (result["ok"], result["malformed"]) == (False, [2])
    with pytest.raises(ValueError, match="lists no checksum"):
        tool.run(str(tmp_path / "NONE"))


def key(kind, *parts):
    blob = b"".join(len(part).to_bytes(4) + part for part in (kind.encode(), *parts))
    return f"{kind} {base64.b64encode(blob).decode()}"


RSA_1024 = key("ssh-rsa", b"\x01\x00\x01", b"\x00" + b"\xff" * 128)
RSA_3072 = key("ssh-rsa", b"\x01\x00\x01", b"\x00" + b"\xff" * 384)
DSA = key("ssh-dss", b"\x00" + b"\xff" * 128, b"q", b"g", b"y")
ED25519 = key("ssh-ed25519", bytes(32))


def test_authorized_keys_flags_weak_keys_of_every_account(load, tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(
        "root:x:0:0::/root:/bin/sh\nada:x:1:1::/home/ada:/bin/sh\nbob:x:2:2::/home/bob:/bin/sh\n",
        encoding="utf-8",
    )
    for home, keys in {"root": [ED25519 + " ops"], "home/ada": [RSA_1024, RSA_3072, DSA]}.items():
        (tmp_path / home / ".ssh").mkdir(parents=True)
        text = "\n".join(["# keys", "", *keys])
        (tmp_path / home / ".ssh/authorized_keys").write_text(text, encoding="utf-8")
    result = load("security/keys/authorized_keys").run(str(tmp_path))
    assert result["accounts"] == {"ada": 3, "root": 1}
    assert [(row["type"], row["bits"]) for row in result["rows"] if row["weak"]] == [
        ("ssh-rsa", 1024),
        ("ssh-dss", 1024),
    ]
    assert result["rows"][-1]["comment"] == "ops"


def test_authorized_keys_never_shows_option_values_or_key_material(load, tmp_path):
    file = tmp_path / "authorized_keys"
    options = 'from="10.0.0.0/8",environment="TOKEN=s3cret \\" x",no-pty'
    file.write_text(f"{options} {ED25519} ada\n", encoding="utf-8")
    result = load("security/keys/authorized_keys").run(path=str(file))
    assert result["rows"][0]["options"] == ["from", "environment", "no-pty"]
    assert "s3cret" not in str(result)
    assert ED25519.split()[1] not in str(result)


def test_authorized_keys_reports_damaged_lines_and_goes_on(load, tmp_path):
    file = tmp_path / "authorized_keys"
    cut = ED25519[:-8]
    liar = "ssh-rsa " + ED25519.split()[1]
    file.write_text(f"{cut}\n{liar}\nssh-rsa !!!\nhello\n{ED25519}\n", encoding="utf-8")
    tool = load("security/keys/authorized_keys")
    result = tool.run(path=str(file))
    assert result["total"] == 1
    assert [error["line"] for error in result["errors"]] == [1, 2, 3, 4]
    with pytest.raises(FileNotFoundError):
        tool.run(path=str(tmp_path / "absent"))
