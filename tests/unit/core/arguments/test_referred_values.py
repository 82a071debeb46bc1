"""The meaning of "it" and "that file" is proposed, unless two things may be meant."""

import pytest

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.filler import FilledValue
from pulsus.core.arguments.referred_values import propose_referred
from pulsus.core.types import ArgSpec


def inputs(*args):
    return from_arguments([ArgSpec(n, "str", True, None, d) for n, d in args], "a", "A.").inputs


SETTING = inputs(("path", "The configuration file."))
PERSON = inputs(("user", "The login name."))
BACKUP = inputs(("folder", "The file or folder to back up."), ("archive", "The archive to write."))
UNPACK = inputs(("path", "The tar archive."), ("folder", "Where to unpack it."))


def step(of, *values):
    return [
        (one, FilledValue(one.name, value, value, 0.9, "propose"))
        for one, value in zip(of, values, strict=True)
    ]


def referred(clause, of, *earlier):
    return [value.value for value in propose_referred(clause, of, earlier)]


@pytest.mark.parametrize(
    ("clause", "earlier", "wanted"),
    [
        ("in that file set a to 1", step(BACKUP, "/etc/a.ini", "/root/bak"), ["/etc/a.ini"]),
        ("set the archive to 0600", step(BACKUP, "/etc/a", "/tmp/a.tgz"), ["/tmp/a.tgz"]),
        ("chmod it to 0600", step(BACKUP, "/etc/a", "/tmp/a.tgz"), []),
        ("chown it to web", step(UNPACK, "/tmp/w.tar.gz", "/srv/w"), ["/srv/w"]),
        ("set a to 1", step(UNPACK, "/tmp/w.tar.gz", "/srv/w"), []),
    ],
)
def test_a_pronoun_means_one_path_or_none(clause, earlier, wanted):
    assert referred(clause, SETTING, earlier) == wanted


def test_the_account_of_an_earlier_step_is_not_asked_for_again():
    assert referred("then lock the account", PERSON, step(PERSON, "bob")) == ["bob"]
    two = step(PERSON, "bob"), step(PERSON, "eve")
    assert referred("then lock the account", PERSON, *two) == []
