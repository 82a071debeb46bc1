"""A secret in the words of a person does not come through, and what it stands beside stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.telemetry.redaction import redact
from pulsus.core.telemetry.secret_rules.redaction_sentences import hide_in_sentences
from tests.redaction_time import check_time_is_linear

S = "Tr0ub4dor_9"
LOWER = "tr0ub4dor77x"

LEAKS = [
    f"put {S} as the password in /etc/myapp/db.conf on app04",
    f"use {LOWER} as the password for the mysql root user",
    f"create user frank on db4 with {LOWER} as password",
    f"use {S} for the bmc password on rack 7",
    f"the postgres password is too weak, make it {S}",
    f"pw {LOWER} for the nas, copy photos to backup",
    f"mount //nas/share on app1, user media, pw {LOWER}",
    f"creds are bob / {LOWER}, check why cron does not run on batch2",
    f"the creds for the printer server are admin/{LOWER}",
    f"log into the router as admin with {S} and reboot it",
    f"connect as sa with {S} to mssql01 and back up the crm database",
    f"rotate db creds on staging to app_rw with {S}",
    f"swap the old token for {S} in the gitlab runner config",
    f"password of user bob on db1 should be {LOWER}",
    f"oscar's vpn password has to be {LOWER} by tomorrow",
    f"our gitlab token (it is {S}) needs to go in the runner on ci3",
    f"db1 root password -> {LOWER}",
    f"change the password of user sync on nas2, the old one was {S}",
    f"keystore password {LOWER}, restart kafka2",
    f"rotate the api key of the mailer, new one is {S}",
    "the api key of the mailer is f47ac10b-58cc-4372-a567-0e02b2c3d479",
    f"setze das Passwort von bob auf db1 auf {S}",
    f"change le mot de passe root en {S} sur web05",
    f"cambia la contraseña de root en db3 a {S}",
    'if it asks for a passphrase use "blue horse 42 ladder"',
]
STAYS = [
    "rotate the api key of billing-v2 and restart web-01",
    "copy the token file to web01 and the key to ip-10-0-3-7",
    "restart the pods that use secret payments-key-v3",
    "replace the token file on runner-7 with the one from runner-8",
    "set password encryption to scram-sha-256 in postgresql.conf",
    "rotate his password, HR-552",
    "how secure is AES256 compared with ChaCha20 for the secret store",
    "List available tokens, or enroll a new PKCS#11 token",
    "Sign in to a 1Password account",
    "use the key of bob@web01 and log in to db-prod-2.example.com:5432",
    "set max_tokens to 4096 and key_size to 2048 in tls.conf",
    "Setting up passwd (1:4.13+dfsg1-1+deb12u2) ...",
    "--- PASS: TestHttp2 (0.00s)",
    'E0114 08:41:02 token_manager.go:121] "Couldn\'t update token" err="no answer in 30s"',
    "c.acme.auth.LoginController2 - login ok user=u10442 method=oidc duration=212ms",
    "delete the vm with id I08eZjGLy7M and reset the password of its user",
]


@pytest.mark.parametrize("text", LEAKS)
def test_a_secret_in_a_sentence_does_not_come_through(text):
    told = redact(text)
    assert "[redacted]" in told
    assert not any(part in told for part in ("Tr0ub4dor", "tr0ub4dor", "f47ac10b", "ladder"))


@pytest.mark.parametrize("text", STAYS)
def test_a_sentence_without_a_secret_is_not_changed(text):
    assert redact(text) == text


def test_the_words_around_a_secret_are_not_lost():
    told = redact(f"log into web01 as admin with {S} and reboot it")
    assert told == "log into web01 as admin with [redacted] and reboot it"


@given(st.lists(st.sampled_from([*" ".join(LEAKS + STAYS).split(), S, "[redacted]"]), max_size=30))
def test_what_was_hidden_once_is_not_changed_again(words):
    once = hide_in_sentences(" ".join(words))
    assert hide_in_sentences(once) == once


@pytest.mark.parametrize(
    "part",
    ["password ", "set pw to ", "as the ", "log in with a and ", "AaA1", '"a 1', "key: ", "a1_."],
)
def test_a_long_text_is_read_in_time_that_grows_with_its_length(part):
    line = part * (590 // len(part))  # a longer line is no sentence
    check_time_is_linear(f"{line}\n")
