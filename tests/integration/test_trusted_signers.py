"""Records whose commit a listed key signed count without a question (ADR 31)."""

import json
import os
import shutil
import subprocess

import pytest

from pulsus.config.trust.signers import openpgp_key, signer_error, ssh_key
from pulsus.core.storage.records import promotion_records
from pulsus.routing.delivery.approved_records_check import SignedRecords
from tests.decisions import as_in_a_clone
from tests.integration.test_record_attacks import PLACE, PLANTED, READER, named, rows, write
from tests.project import pulsus_here
from tests.promotions import promoted

needs_ssh = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen")
needs_gpg = pytest.mark.skipif(not shutil.which("gpg"), reason="there is no gpg")


def git(project, *args, **settings):
    who = {"user.name": "a", "user.email": "a@b", "commit.gpgsign": "false", **settings}
    given = [part for name, value in who.items() for part in ("-c", f"{name}={value}")]
    done = subprocess.run(
        ["git", "-C", project, *given, *args], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def keys(tmp_path):
    """Two SSH key pairs; the private files."""
    made = []
    for name in ("alice", "mallory"):
        path = tmp_path / name
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
        subprocess.run(command, check=True)
        made.append(path)
    return made


def public(key):
    return key.with_suffix(".pub").read_text("ascii").strip()


def by_ssh(key):
    return {"gpg.format": "ssh", "user.signingkey": f"{key}.pub", "commit.gpgsign": "true"}


@pytest.fixture
def project(tmp_path):
    """A repository whose first commit is not signed."""
    folder = tmp_path / "project"
    promoted(folder, READER)
    git(folder, "init", "-q")
    git(folder, "add", "workflows")
    git(folder, "commit", "-qm", "one")
    return folder


def pulled(project, **settings):
    """A version that a pull brought, in a commit of its own."""
    new = named(rows(project)[-1], PLANTED, id="rev-20260302-001", version="1.0.1")
    del new["log"]
    write(project, PLANTED, [*rows(project), new])
    git(project, "commit", "-qam", "two", **settings)


def signed(project, *signers):
    module = project / PLACE / "things.py"
    latest = promotion_records.read_records(module.with_name("metadata.jsonl"))[-1]
    return SignedRecords(project / "workflows", signers).signed(latest, module)


@needs_ssh
def test_a_commit_signed_by_a_listed_ssh_key_brings_records_that_count(project, keys):
    alice, mallory = keys
    pulled(project, **by_ssh(alice))
    assert signed(project, public(mallory), public(alice))
    assert not signed(project, public(mallory))
    assert not signed(project)


def test_records_of_an_unsigned_commit_do_not_count(project):
    pulled(project)
    assert not signed(project, "0" * 40)


@needs_ssh
def test_a_signed_commit_after_the_one_that_brought_the_record_does_not_count(project, keys):
    pulled(project)
    (project / "more.txt").write_text("x", encoding="utf-8")
    git(project, "add", "more.txt")
    git(project, "commit", "-qm", "three", **by_ssh(keys[0]))
    assert not signed(project, public(keys[0]))


@needs_ssh
def test_a_record_that_is_not_committed_is_not_signed(project, keys):
    pulled(project, **by_ssh(keys[0]))
    path = project / PLACE / "metadata.jsonl"
    *older, last = rows(project)
    path.write_text(
        "".join(f"{json.dumps(row)}\n" for row in (*older, last | {"owner": "mallory"})),
        encoding="utf-8",
    )
    assert not signed(project, public(keys[0]))


@needs_ssh
def test_the_signed_commit_must_hold_the_modules_bytes(project, keys):
    """A signed commit brings the record, and an unsigned one the module that it names."""
    new = named(rows(project)[-1], PLANTED, id="rev-20260302-001", version="1.0.1")
    del new["log"]
    write(project, READER, [*rows(project), new])
    git(project, "commit", "-qam", "two", **by_ssh(keys[0]))
    (project / PLACE / "things.py").write_bytes(PLANTED)
    git(project, "commit", "-qam", "three")
    assert not signed(project, public(keys[0]))


@needs_ssh
def test_the_repositorys_own_list_of_signers_and_programs_do_not_count(project, keys, tmp_path):
    alice, mallory = keys
    pulled(project, **by_ssh(mallory))
    mark, script = tmp_path / "started", tmp_path / "evil.sh"
    script.write_text(
        f"#!/bin/sh\ntouch {mark}\necho 'Good \"git\" signature for a with ED25519 key SHA256:x'\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"* {public(mallory)}\n", encoding="ascii")
    git(project, "config", "gpg.ssh.allowedSignersFile", str(allowed))
    for key in ("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "core.fsmonitor"):
        git(project, "config", key, str(script))
    assert not signed(project, public(alice))
    assert not mark.exists()


def promoted_by_a_colleague(project, **settings):
    """A version that was promoted on another machine, in a commit of its own."""
    theirs = project.with_name("theirs")
    shutil.copytree(project, theirs, ignore=shutil.ignore_patterns(".pulsus"))
    promoted(theirs, PLANTED)
    shutil.copytree(theirs / "workflows", project / "workflows", dirs_exist_ok=True)
    git(project, "add", "workflows")
    git(project, "commit", "-qm", "two", **settings)


def judged(project, *signers):
    """Return the warnings of a run, and the exit status and warnings of the audit."""
    env = {"PULSUS_AUDIT__TRUSTED_SIGNERS": json.dumps(signers)}
    ran = pulsus_here(project, "run", "things", "--input", "text=a b", "--output", "json", env=env)
    audit = pulsus_here(project, "audit", "--strict", "--output", "json", env=env)
    warned = [f["code"] for f in audit.json["findings"] if f["level"] != "info"]
    return ran.err, audit.code, warned


@needs_ssh
def test_the_audit_does_not_warn_of_a_record_that_a_run_takes_by_its_signature(project, keys):
    alice, mallory = keys
    promoted_by_a_colleague(project, **by_ssh(alice))
    ran, code, warned = judged(project, public(alice))
    assert (ran, code, warned) == ("", 0, [])
    for signers in ((public(mallory),), ()):
        ran, code, warned = judged(project, *signers)
        assert "is not in your decision log" in ran
        assert (code, warned) == (1, ["LOG_ELSEWHERE", "RECORD_UNKNOWN"])


@needs_ssh
def test_signers_that_a_project_lists_unapproved_do_not_quiet_the_audit(project, keys):
    promoted_by_a_colleague(project, **by_ssh(keys[0]))
    (project / "config").mkdir(exist_ok=True)
    text = f"[audit]\ntrusted_signers = {json.dumps([public(keys[0])])}\n"
    (project / "config/pulsus.toml").write_text(text, encoding="utf-8")
    audit = pulsus_here(project, "audit", "--output", "json")
    assert {f["code"] for f in audit.json["findings"] if f["level"] != "info"} >= {
        *("SETTING_UNAPPROVED", "RECORD_UNKNOWN", "LOG_ELSEWHERE")
    }


@needs_ssh
def test_a_signature_does_not_hide_that_a_clone_has_no_log(project, keys):
    promoted_by_a_colleague(project, **by_ssh(keys[0]))
    as_in_a_clone(project)
    ran, code, warned = judged(project, public(keys[0]))
    assert "no decision log yet" in ran
    assert (code, warned) == (1, ["LOG_ELSEWHERE"])


@needs_gpg
@pytest.mark.seconds
def test_a_commit_signed_by_a_listed_openpgp_key_counts(project, tmp_path, monkeypatch):
    home = tmp_path / "g"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    made = ("--quick-gen-key", "Alice <alice@example.com>", "ed25519", "sign", "never")
    command = ["gpg", "--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"]
    subprocess.run([*command, *made], check=True, capture_output=True, env=dict(os.environ))
    listed = subprocess.run(
        ["gpg", "--list-keys", "--with-colons"], check=True, capture_output=True, text=True
    ).stdout
    fingerprint = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr"))
    pulled(project, **{"user.signingkey": fingerprint, "commit.gpgsign": "true"})
    assert signed(project, fingerprint)
    assert signed(project, fingerprint[-16:].lower())
    assert not signed(
        project, "0" * 40, fingerprint[:-1] + ("0" if fingerprint[-1] != "0" else "1")
    )
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)


@pytest.mark.parametrize(
    "entry",
    [
        *("", "alice@example.com", "DEADBEEF", "0123", "ssh-ed25519 AAAA", "ssh-ed25519 !!!", "*"),
        "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB",
    ],
)
def test_an_entry_that_names_no_key_is_refused(entry):
    """A short key id can be made for anybody."""
    assert signer_error(entry)
    assert openpgp_key(entry) is None
    assert ssh_key(entry) is None
