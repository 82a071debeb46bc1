"""A repository that somebody else set up runs nothing when it is looked at (real git)."""

import os
import shutil
import subprocess

import pytest

from pulsus.commands.classify import classify
from pulsus.commands.run_environment import GIT
from tests.executed import executed

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
    pytest.mark.seconds,
]

OWN = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "PATH": os.environ["PATH"],
}
SIGNATURES = {
    "pgp": ("-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----"),
    "ssh": ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"),
    "x509": ("-----BEGIN SIGNED MESSAGE-----", "-----END SIGNED MESSAGE-----"),
}


def git(folder, *words, given=None):
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env=OWN,
        input=given,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A folder whose settings name a program wherever git knows a setting that does; each leaves a
    file in `marks`."""
    root = tmp_path_factory.mktemp("repository")
    (root / "marks").mkdir()
    _history(root)
    _submodule(root)
    for name, value in _settings(root / "marks").items():
        git(root, "config", name, value)
    (root / ".git/info/attributes").write_text("a diff=x merge=x\nb diff=y\n", encoding="utf-8")
    for name in ("a", "b", "sub/x"):
        (root / name).write_text("9\n", encoding="utf-8")
    for mark in (root / "marks").iterdir():
        mark.unlink()
    return root


def _history(root):
    git(root, "init", "-qb", "main")
    (root / ".gitignore").write_text("marks\n", encoding="utf-8")
    for text in "12":
        for name in "ab":
            (root / name).write_text(f"{text}\n", encoding="utf-8")
        git(root, "add", ".")
        git(root, "commit", "-qm", text)
    before, _, message = git(root, "cat-file", "commit", "HEAD").partition("\n\n")
    for name, (begin, end) in SIGNATURES.items():
        signed = f"{before}\ngpgsig {begin}\n \n iQ==\n {end}\n\n{message}\n"
        made = git(root, "hash-object", "-t", "commit", "-w", "--stdin", given=signed)
        git(root, "branch", name, made)
    (root / "a").write_text("3\n", encoding="utf-8")
    git(root, "stash")
    git(root, "checkout", "-qb", "side", "pgp")
    (root / "a").write_text("4\n", encoding="utf-8")
    git(root, "commit", "-qam", "side")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "-s", "ours", "-m", "merged", "side")


def _submodule(root):
    sub = root / "sub"
    sub.mkdir()
    git(sub, "init", "-qb", "main")
    (sub / "x").write_text("1\n", encoding="utf-8")
    git(sub, "add", ".")
    git(sub, "commit", "-qm", "1")
    (root / ".gitmodules").write_text(
        '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n', encoding="utf-8"
    )
    git(root, "add", "sub", ".gitmodules")
    git(root, "commit", "-qm", "sub")
    for name in ("core.fsmonitor", "diff.external", "diff.x.textconv"):
        git(sub, "config", name, f"touch {root}/marks/sub-{name}; cat")
    (sub / ".git/info/attributes").write_text("* diff=x\n", encoding="utf-8")


def _settings(marks):
    running = (
        *("core.fsmonitor", "core.pager", "pager.log", "pager.diff", "core.editor"),
        *("diff.external", "diff.x.textconv", "diff.y.command", "merge.x.driver"),
        *("core.sshCommand", "core.askPass", "core.alternateRefsCommand"),
        *("remote.origin.uploadpack", "interactive.diffFilter", "uploadpack.packObjectsHook"),
    )
    named = ("gpg.program", "gpg.ssh.program", "gpg.x509.program", "core.gitProxy")
    for name in named:
        file = marks.parent / ".git" / name
        file.write_text(f"#!/bin/sh\ntouch {marks}/{name}\n", encoding="utf-8")
        file.chmod(0o755)
    return {
        **{name: f"touch {marks}/{name}; cat" for name in running},
        **{name: f"{marks.parent}/.git/{name}" for name in named},
        "gpg.ssh.allowedSignersFile": f"{marks.parent}/a",
        "credential.helper": f"!touch {marks}/helper; :",
        "alias.lfs": f"!touch {marks}/lfs",
        "alias.fame": f"!touch {marks}/fame",
        "log.showSignature": "true",
        "log.diffMerges": "remerge",
        "format.pretty": "%G? %h",
        "diff.submodule": "diff",
        "status.submoduleSummary": "true",
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
        "remote.origin.url": str(marks.parent),
        "remote.far.url": "ssh://host.invalid/x",
        "remote.far.uploadpack": "git-upload-pack 'x'; evil",
        "remote.plain.url": "git://127.0.0.1:1/x",
        "remote.ext.url": f"ext::touch {marks}/ext",
        "remote.helper.url": f"touch {marks}/vcs",
        "remote.helper.vcs": "ext",
        f"url.ext::touch% {marks}/instead.insteadOf": "https://rewritten.invalid/",
    }


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git status -v",
        "git diff",
        "git diff --stat HEAD~1",
        "git diff | head -3",
        "timeout 5 git diff",
        "ls | xargs git diff --",
        "git log -p",
        "git log -m -p | head -40",
        "git log -p --submodule=log",
        "git log -p --diff-merges=on",
        "git log --alternate-refs",
        "git log --all --format='%an %s'",
        "git -c log.decorate=no log -p",
        "git show",
        "git show pgp",
        "git show ssh",
        "git show x509",
        "git whatchanged -p",
        "git reflog -p",
        "git reflog show -p",
        "git stash list -p",
        "git stash show -p",
        "git diff-tree -p HEAD~2 HEAD",
        "git diff-index -p HEAD",
        "git diff-files -p",
        "git format-patch --stdout -1",
        "git blame a",
        "git annotate HEAD -- a",
        "git hash-object a",
        "git describe --dirty --always",
        "git shortlog --format=%an HEAD",
        "git grep --recurse-submodules 1",
        "git verify-commit pgp",
        "git verify-commit ssh",
        "git verify-commit x509",
        "git ls-remote",
        "git ls-remote .",
        "git ls-remote far",
        "git ls-remote plain",
        "git ls-remote ext",
        "git ls-remote helper",
        "git ls-remote https://rewritten.invalid/x",
        "git remote show origin",
        "git remote show far | cat",
        "git submodule",
        "git submodule status --recursive",
        "git submodule summary --files",
        "git lfs version",
        "git fame",
        "git apply --check .git/info/attributes",
        "git clean -nd",
    ],
)
def test_what_settings_name_is_not_run(command, repository):
    executed(command, repository, HOME="/nonexistent")
    ran = sorted(mark.name for mark in (repository / "marks").iterdir())
    for mark in ran:
        (repository / "marks" / mark).unlink()
    assert ran == []


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (("diff",), "diff.external"),
        (("show", "ssh"), "gpg.ssh.program"),
        (("ls-remote", "plain"), "core.gitProxy"),
        (("status",), "core.fsmonitor"),
        (("log", "-p"), "diff.x.textconv"),
    ],
)
def test_without_the_plan_it_would_be(words, ran, repository):
    subprocess.run(
        ["git", *words], cwd=repository, env=OWN, check=False, capture_output=True, timeout=20
    )
    found = {mark.name for mark in (repository / "marks").iterdir()}
    for mark in found:
        (repository / "marks" / mark).unlink()
    assert ran in found


@pytest.mark.parametrize(
    "command", ["git diff", "git diff | cat", "git log -p -1 a", "git blame a"]
)
def test_and_what_is_asked_for_is_shown(command, repository):
    assert executed(command, repository).stdout


@pytest.mark.parametrize(
    ("last", "passes"),
    [
        ("git-upload-pack '/srv/x.git'", True),
        ("evil '/srv/x.git'", False),
        ("git-upload-pack; evil '/x'", False),
        ("git-upload-pack 'x'; evil '/x'", False),
        ("git-upload-pack '/x' 'y'", False),
    ],
)
def test_over_ssh_a_repository_is_asked_for_its_list_and_nothing_else(last, passes, tmp_path):
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor last; do :; done; echo "$last"\n', encoding="utf-8")
    ssh.chmod(0o755)
    command = GIT["GIT_SSH_COMMAND"]
    done = subprocess.run(
        ["/bin/sh", "-c", f'{command} "$@"', "ssh", "host", last],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout == f"{last}\n") is passes


@pytest.mark.parametrize(
    "command",
    [
        "git log --all --format='%G? %GS'",
        "git shortlog --format=%G? HEAD",
        "git log --pretty=signed",
        "git for-each-ref --format='%(signature)'",
    ],
)
def test_a_format_does_not_run_gpg(command):
    assert not classify(command).allow
