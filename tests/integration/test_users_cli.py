"""`pulsus users`: who may sign in; what a token may never do."""

import pexpect
import pytest

from pulsus.errors import UsageError
from pulsus.web.accounts import user_accounts
from pulsus.web.accounts.bearer_tokens import BearerTokens
from pulsus.web.accounts.user_accounts import UserAccounts
from tests.project import PULSUS, make, pulsus_here

pytest.importorskip("argon2")
pytestmark = pytest.mark.seconds


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = make(tmp_path_factory.mktemp("users") / "project", warm=False)
    accounts = UserAccounts(folder / ".pulsus")
    accounts.add("ada", "approver", "a long enough password")
    accounts.add("bert", "operator", "a long enough password")
    return folder


def test_the_help_gives_the_length_of_a_password(project):
    shown = pulsus_here(project, "users", "add", "--help").out
    assert f"{user_accounts.LEAST_PASSWORD} to {user_accounts.MOST_PASSWORD} characters" in shown


def test_the_last_approver_is_not_locked_out_in_silence_and_comes_back(project):
    done = pulsus_here(project, "users", "disable", "ada")
    assert done.code == 0
    assert "pulsus users enable ada" in done.err
    assert "no user may approve now" in done.err
    back = pulsus_here(project, "users", "enable", "ada", "--output", "json")
    assert (back.json["name"], back.json["role"]) == ("ada", "approver")
    assert "no user may" not in pulsus_here(project, "users", "disable", "bert").err
    assert pulsus_here(project, "users", "enable", "bert").code == 0


def test_a_token_for_a_disabled_user_is_not_told_to_add_one_that_exists(project):
    pulsus_here(project, "users", "disable", "bert")
    done = pulsus_here(project, "users", "token", "bert", "--output", "json")
    assert (done.code, done.json["error"]["hint"]) == (2, "pulsus users enable bert")
    pulsus_here(project, "users", "enable", "bert")


@pytest.mark.parametrize("name", ["dora", "bert"])
def test_a_user_offered_for_a_token_may_have_that_role(project, name):
    done = pulsus_here(project, "users", "token", name, "--role", "approver", "--output", "json")
    offered = "dora" if name == "dora" else "NAME"
    wanted = f"pulsus users add {offered} --role approver"
    assert (done.code, done.json["error"]["hint"].endswith(wanted)) == (2, True)


def test_only_a_disabled_user_is_offered_to_be_let_in(project):
    accounts = UserAccounts(project / ".pulsus")
    accounts.add("carl", "viewer", "a long enough password")
    with pytest.raises(UsageError) as refused:
        accounts.add("carl", "viewer", "a long enough password")
    assert refused.value.hint == "a password or a role cannot be changed: choose another name"
    accounts.disable("carl")
    with pytest.raises(UsageError) as refused:
        accounts.add("carl", "viewer", "a long enough password")
    assert refused.value.hint.endswith("or let this one in: pulsus users enable carl")


def test_an_empty_pipe_is_told_where_a_password_comes_from(project):
    done = pulsus_here(project, "users", "add", "erik", "--output", "json")
    assert done.code == 2
    assert "first line of the pipe" in done.json["error"]["hint"]


def test_an_unknown_user_cannot_be_enabled(project):
    done = pulsus_here(project, "users", "enable", "nora", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")


def test_a_token_that_would_show_a_higher_role_than_its_user_is_not_made(project):
    done = pulsus_here(project, "users", "token", "bert", "--role", "approver", "--output", "json")
    assert (done.code, done.json["error"]["code"]) == (2, "USAGE")
    assert "operator" in done.json["error"]["hint"]
    assert pulsus_here(project, "users", "token", "bert", "--role", "viewer").code == 0


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "the end of input"])
def test_a_user_whose_password_was_not_typed_is_said_not_to_be_added(project, key):
    line = ["users", "add", "nora", "--role", "viewer"]
    child = pexpect.spawn(str(PULSUS), line, cwd=str(project), encoding="utf-8", timeout=60)
    child.expect_exact("Password")
    child.send(key)
    child.expect_exact("[ABORTED]: aborted; no user was added")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "nora" not in pulsus_here(project, "users", "list").out


def refusal_of_request(project, token):
    """Return the error of a request of the person of a token."""
    env = {"PULSUS_SERVER_TOKEN": token, "PULSUS_NON_INTERACTIVE": "true"}
    args = ["apply", "a.yaml", "--request", "--output", "json"]
    done = pulsus_here(project, *args, env=env)
    error = done.json["error"]
    assert (done.code, error["code"]) == (6, "TOKEN_REFUSED")
    return error


def test_a_person_whose_token_may_not_ask_is_not_told_that_it_is_invalid(tmp_path):
    project = tmp_path
    pulsus_here(project, "init")
    accounts = UserAccounts(project / ".pulsus")
    accounts.add("ada", "approver", "a long enough password")
    accounts.add("vera", "viewer", "a long enough password")
    pulsus_here(project, "plan", f"five biggest files in {project}", "-o", "a.yaml")

    def made(name, role):
        return BearerTokens(project / ".pulsus").make(name, role, 9)[0]

    make = "make one: pulsus users token NAME --role operator"
    weak = refusal_of_request(project, made("ada", "viewer"))
    assert weak["message"] == (
        "the token in PULSUS_SERVER_TOKEN has the role viewer, which may not ask for approvals"
    )
    assert weak["hint"] == f"it needs operator; {make}"
    low = refusal_of_request(project, made("vera", "operator"))
    assert "is of vera, whose role viewer may not ask" in low["message"]
    # A stranger learns nothing of accounts: a token that never was is as one that ended.
    ended = made("ada", "viewer")
    tokens = BearerTokens(project / ".pulsus")
    tokens.revoke(tokens.tokens()[-1].id)
    for token in (ended, "pls_nothing", "x"):
        error = refusal_of_request(project, token)
        assert error["message"] == "the token in PULSUS_SERVER_TOKEN is not valid, or has expired"
        assert error["hint"] == make


def test_a_request_says_at_once_that_no_user_may_approve_it(tmp_path):
    """Without an approver the request only expires."""
    pulsus_here(tmp_path, "init")
    pulsus_here(tmp_path, "plan", f"five biggest files in {tmp_path}", "-o", "a.yaml")
    asked = pulsus_here(tmp_path, "apply", "a.yaml", "--request")
    assert asked.code == 0
    assert "make one: pulsus users add NAME --role approver" in " ".join(asked.err.split())
    UserAccounts(tmp_path / ".pulsus").add("ada", "approver", "a long enough password")
    asked = pulsus_here(tmp_path, "apply", "a.yaml", "--request")
    assert "no user has the role approver" not in asked.err
