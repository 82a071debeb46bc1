"""The redactor hides secrets in texts and values, and keeps everything else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.telemetry.redaction import MARK, Redactor, is_secret_name, redact, redact_value
from pulsus.core.telemetry.secret_rules import redaction_rules
from pulsus.core.types import JsonValue
from tests.redaction_time import check_time_is_linear

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEdeadbeef\n-----END RSA PRIVATE KEY-----"
# Built from pieces, so that no scanner takes this file for a leak.
JWT = ".".join(("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxIn0", "c2lnbmF0dXJl"))
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2" * 9

SECRETS = [
    ("password=hunter2 user=bob", "password=[redacted] user=bob"),
    ("PASSWORD: hunter2", "PASSWORD: [redacted]"),
    ('{"password": "a b\\"c", "x": 1}', '{"password": "[redacted]", "x": 1}'),
    ("{'api_key': 'zzz'}", "{'api_key': '[redacted]'}"),
    ('{\\"token\\": \\"a b\\", \\"x\\": 1}', '{\\"token\\": \\"[redacted]\\", \\"x\\": 1}'),
    ('os.environ["DB_PASSWORD"] = "x y"', 'os.environ["DB_PASSWORD"] = "[redacted]"'),
    ("AWS_SECRET_ACCESS_KEY=ab/cd+ef", "AWS_SECRET_ACCESS_KEY=[redacted]"),
    ("apikey=1&access_token=2", "apikey=[redacted]"),
    ('secret="not closed\nnext', 'secret="[redacted]\nnext'),
    ("client-secret => abc", "client-secret => [redacted]"),
    ("x?access_token%3Dabc", "x?access_token%3D[redacted]"),
    ("password: |\n  hunter2\n  more\nnext: 1", "password: [redacted]\nnext: 1"),
    ("run --password hunter2 --verbose", "run --password [redacted] --verbose"),
    ("mysql -uroot -phunter2 shop", "mysql -uroot -p[redacted] shop"),
    ("sshpass -p hunter2 ssh h", "sshpass -p [redacted] ssh h"),
    ("redis-cli -h h -a hunter2 ping", "redis-cli -h h -a [redacted] ping"),
    ("docker login -u a -p hunter2", "docker login -u a -p [redacted]"),
    ("ldapsearch -D cn=a -w hunter2 -b x", "ldapsearch -D cn=a -w [redacted] -b x"),
    ("smbclient //h/s -U bob%hunter2", "smbclient //h/s -U bob%[redacted]"),
    ("snmpwalk -v2c -c hunter2 h", "snmpwalk -v2c -c [redacted] h"),
    (
        "snmpget -a SHA -A hunter2a -x AES -X hunter2b h",
        "snmpget -a SHA -A [redacted] -x AES -X [redacted] h",
    ),
    ("openssl rsa -passin pass:hunter2", "openssl rsa -passin pass:[redacted]"),
    ("DB_PASS=hunter2", "DB_PASS=[redacted]"),
    ("ansible_become_pass: hunter2", "ansible_become_pass: [redacted]"),
    ("SECRET_KEY_BASE=hunter2", "SECRET_KEY_BASE=[redacted]"),
    ("PresharedKey = hunter2=", "PresharedKey = [redacted]"),
    ("<db:password>hunter2</db:password>", "<db:password>[redacted]</db:password>"),
    ('<add key="ApiKey" value="hunter2"/>', '<add key="ApiKey" value="[redacted]"/>'),
    ("snmp-server community hunter2 RO", "snmp-server community [redacted] RO"),
    ("run --api-key='a b' x", "run --api-key='[redacted]' x"),
    ("Authorization: Bearer abc.def status=200", "Authorization: [redacted] status=200"),
    ('"authorization": "Basic dXNlcjpwYXNz"', '"authorization": "[redacted]"'),
    ('Authorization: Digest username="b", response="0ff"', "Authorization: [redacted]"),
    ("token: Bearer abc x", "token: [redacted] x"),
    ("token: password: hunter2", "token: password: [redacted]"),
    ("got Bearer abc123def456 today", "got Bearer [redacted] today"),
    ("Set-Cookie: sid=1; Path=/", "Set-Cookie: [redacted]"),
    ("postgres://bob:p@ss:w@db.local/x", "postgres://bob:[redacted]@db.local/x"),
    ("redis://:hunter2@cache:6379", "redis://:[redacted]@cache:6379"),
    ("curl -u bob:hunter2 https://x", "curl -u bob:[redacted] https://x"),
    ("machine x login bob password hunter2", "machine x login bob password [redacted]"),
    (f"key: {PEM} after", "key: [redacted] after"),
    (PEM[:50], MARK),
    (f"id {AWS}.", "id [redacted]."),
    (f"https://{GITHUB}@github.com", "https://[redacted]@github.com"),
    ("github_pat_" + "A" * 30, MARK),
    ("glpat-" + "x1" * 10, MARK),
    ("xoxb-" + "1234567890-abc", MARK),
    ("sk-proj-" + "abcd1234efgh5678", MARK),
    ("hvs." + "a" * 24, MARK),
    (f"jwt {JWT}", "jwt [redacted]"),
    ("token SWMTKN-1-" + "49nj1cmql0" * 4, "token [redacted]"),
    ("https://hooks.slack.com/services/T0/B0/x9", "https://hooks.slack.com/services/[redacted]"),
    ("root:$6$ab" + "cd$" + "Q9x" * 12 + ":19000:0", "root:[redacted]:19000:0"),
    (
        '{"auths": {"r.io": {"auth": "dXNlcjpwYXNz"}}}',
        '{"auths": {"r.io": {"auth": "[redacted]"}}}',
    ),
    ("Private-Lines: 2\nAAAB\nCC==\nMAC: x", "Private-Lines: 2\n[redacted]\nMAC: x"),
    ("requirepass hunter2", "requirepass [redacted]"),
    ("CREATE USER x IDENTIFIED BY 'hunter2'", "CREATE USER x IDENTIFIED BY [redacted]"),
    ("Server=db;Uid=a;Pwd=hunter2", "Server=db;Uid=a;Pwd=[redacted]"),
    ("client-key-data: LS0tLS1CRUdJTg==", "client-key-data: [redacted]"),
    ("Ocp-Apim-Subscription-Key: 0ff1ce", "Ocp-Apim-Subscription-Key: [redacted]"),
    ("---- BEGIN SSH2 PRIVATE KEY ----\nAA\n---- END SSH2 PRIVATE KEY ----", MARK),
    ('{"name":"DB_PASSWORD","value":"hunter2"}', '{"name":"DB_PASSWORD","value":"[redacted]"}'),
    ("- name: API_TOKEN\n  value: hunter2\n", "- name: API_TOKEN\n  value: [redacted]\n"),
    ("      DB_PASSWORD:            hunter2\n", "      DB_PASSWORD:            [redacted]\n"),
    (
        "<name>db.password</name>\n  <value>hunter2</value>",
        "<name>db.password</name>\n  <value>[redacted]</value>",
    ),
    ("bindpw hunter2", "bindpw [redacted]"),
    ("//registry.example/:_auth=aHVudGVyMg==", "//registry.example/:_auth=[redacted]"),
]


def test_a_secret_is_hidden_and_what_stands_around_it_is_not():
    assert [redact(text) for text, _ in SECRETS] == [clean for _, clean in SECRETS]
    assert [redact(clean) for _, clean in SECRETS] == [clean for _, clean in SECRETS]


SHAPES = [
    "ya29." + "a0" * 12,
    "GOCSPX-" + "a1B2" * 6,
    "dapi" + "0a" * 16,
    "AIza" + "a1B2c" * 7,
    "sk_live_" + "a1B2" * 5,
    "whsec_" + "a1B2" * 6,
    "shpat_" + "0a" * 16,
    "npm_" + "a1B2" * 9,
    "dckr_pat_" + "a1B2" * 6,
    "xoxp-" + "1234567890-abc",
    "glsa_" + "a1B2" * 8,
    "tskey-auth-" + "a1B2" * 5,
    "hf_" + "aB" * 16,
    "AGE-SECRET-KEY-1" + "A1" * 28,
    "SG." + "a1" * 11 + "." + "b2" * 20,
    "dp.pt." + "a1B2" * 10,
    "$2b$12$" + "aB3" * 17,
    "$argon2id$v=19$m=65536$" + "aB3" * 8,
    "$apr1$abcdefgh$" + "aB3" * 7,
    "HRKU-" + "a1B2" * 10,
    "fm2_" + "a1B2" * 12,
    "pscale_tkn_" + "a1B2" * 10,
    "1//0" + "a1B2" * 12,
    "123456789:AA" + "a1B2" * 8,
    "SK" + "0a" * 16,
    "0a" * 16 + "-us12",
    "xai-" + "a1B2" * 16,
    "ops_eyJ" + "a1B2" * 12,
    "*" + "0A" * 20,
    "SCRAM-SHA-256$4096:" + "a1B2" * 5 + "$" + "a1B2" * 10 + ":" + "a1B2" * 10,
]


@pytest.mark.parametrize("secret", SHAPES, ids=[s[:8] for s in SHAPES])
def test_what_its_maker_gave_a_shape_is_hidden_wherever_it_stands(secret):
    assert redact(f"got {secret} here") == f"got {MARK} here"
    assert redact(f'{{"x": "{secret}"}}') == f'{{"x": "{MARK}"}}'
    assert redact(f"{secret}\n{secret}") == f"{MARK}\n{MARK}"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("accessToken", True),
        ("X-Api-Key", True),
        ("authorization", True),
        ("credentials", True),
        ("requirepass", True),
        ("tokens_estimate", False),
        ("author", False),
        ("keyboard", False),
        ("", False),
    ],
)
def test_a_name_tells_whether_what_it_holds_is_a_secret(name, secret):
    assert is_secret_name(name) is secret


@pytest.mark.parametrize(
    "text",
    [
        "",
        "route-1a2b3c4d run-20260301-120000-abcdef rev-20260301-001",
        "sha256:" + "0123456789abcdef" * 4,
        "550e8400-e29b-41d4-a716-446655440000",
        "2026-03-01T12:00:00+00:00 INFO accepted connection from 10.0.0.1:51234",
        "cat /etc/passwd: Permission denied",
        "tokens_estimate: 1340, max_tokens=5, tokenizer=bpe",
        "Secrets: none",
        "find the biggest files below /var/log and show the top 10",
        "basic authentication failed for user bob; bearer certificates are not supported",
        "http://host:8080/path?q=a@b https://example.org/~bob",
        "git@github.com:o/r.git commit 390ff73b0c0de",
        "disk-usage-of-something-quite-long-indeed task-runner-with-a-long-name-1",
        "PWD=/home/bob OLDPWD=/srv keyboard: de monkey=1",
        "Traceback (most recent call last):\n  File \"x.py\", line 3, in run\nKeyError: 'a'",
        "docker run -u 1000:1000 image",
        "docker run -p 8080:80 image",
        "mysql -h db1 -P 3306 -e 'SELECT 1'",
        "passwd: files systemd",
        "curl -A agent -X POST http://host",
        "d41d8cd98f00b204e9800998ecf8427e  x.iso",
        "pass: 12 fail: 0",
        "- name: HOME\n  value: /root\n- name: DB_PASSWORD_FILE\n  value: /run/x",
        "domains/secrets/list_secrets.py passes: 12 failed: 0",
        "τ=0.60 score=0.74 → workflows/domains/analysis",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert redact(text) == text


def test_json_values_go_under_a_secret_name_and_stay_elsewhere():
    value: JsonValue = {
        "password": {"nested": ["x"]},
        "X-Api-Key": 12345,
        "accessToken": "abc",
        "has_token": True,
        "token": None,
        "tokens_estimate": 1340,
        "rows": [{"note": "password=hunter2"}, 1.5, None],
        "env": [{"name": "DB_PASSWORD", "value": "x"}, {"name": "HOME", "value": "/root"}],
        GITHUB: 1,
    }
    assert redact_value(value) == {
        "password": MARK,
        "X-Api-Key": MARK,
        "accessToken": MARK,
        "has_token": True,
        "token": None,
        "tokens_estimate": 1340,
        "rows": [{"note": "password=[redacted]"}, 1.5, None],
        "env": [{"name": "DB_PASSWORD", "value": MARK}, {"name": "HOME", "value": "/root"}],
        MARK: 1,
    }


@pytest.mark.parametrize(
    "spelt",
    [
        's3cr3t/va"lue',
        "s3cr3t%2Fva%22lue",
        json.dumps({"a": 's3cr3t/va"lue'})[6:-1],
        'prefix-s3cr3t/va"lue-suffix',
    ],
)
def test_a_value_known_from_the_environment_is_hidden_however_it_is_written(spelt):
    redactor = Redactor.from_environment({"PULSUS_LLM_API_KEY": 's3cr3t/va"lue'})
    assert "s3cr3t" not in redactor.redact(f"saw {spelt} there")


@pytest.mark.parametrize(
    "name", ["X_API_KEY", "GITHUB_TOKEN", "MY_SECRET", "DB_PASSWORD", "PGPASSWORD", "token"]
)
def test_variables_named_like_secrets_are_known(name):
    assert Redactor.from_environment({name: "abcdefgh"}).redact("abcdefgh") == MARK


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MY_TOKEN", "short"),
        ("MY_TOKEN", "redacted"),
        ("PATH", "/usr/bin:/bin"),
        ("TOKENS", "abcdefgh"),
        ("MY_TOKEN", "        "),
    ],
)
def test_other_variables_and_words_too_short_are_not(name, value):
    text = f"{value} {MARK} here"
    assert Redactor.from_environment({name: value}).redact(text) == text


def test_a_secret_within_a_longer_one_does_not_leave_its_rest():
    assert Redactor(("abcdefgh", "abcdefgh-and-more")).redact("abcdefgh-and-more") == MARK


@pytest.mark.parametrize(
    "unit",
    ["eyJ", "password", "--token-", "://", "curl ", "-----BEGIN A-----", "a:", "\\", "basic ",
     'token"', "sk-", "login ", "authorization ", "://a:b",
     "password: |\n ", "Bearer a.",
     "[redacted", "token= password: ", "requirepass ", "$6$", "xoxb-", '"auth": "', "key-0",
     "name: token\n", "name:", "key: a",
     "Private-Lines: 1\n", "Private-Lines: 1\nA\n", "identified by ", "password '", "dp.pt.",
     "//hooks.slack.com/services/", "SG.a.", "---- BEGIN SSH2 A ----", "glsa_", "-1-", "$1$ "],
)  # fmt: skip
def test_time_grows_with_the_text_not_with_its_square(unit):
    check_time_is_linear(unit)


@pytest.mark.parametrize(
    "code",
    [
        "def run(token: str, n: int) -> str:",
        'password = os.environ["X"]',
        "Authorization: Bearer a1B2",
    ],
)
def test_in_derived_text_a_name_hides_nothing(code):
    assert Redactor().redact_derived(code) == code


@pytest.mark.parametrize(
    "secret",
    [
        "correct-horse-battery",
        "ghp_" + "a1" * 18,
        "-----BEGIN RSA KEY-----\nx\n-----END RSA KEY-----",
    ],
)
def test_in_derived_text_known_secrets_and_shapes_are_hidden(secret):
    redactor = Redactor(("correct-horse-battery",))
    found = redactor.redact_derived(f"a {secret} b https://me:hunter22@host/")
    assert found == f"a {MARK} b https://me:{MARK}@host/"
    assert redactor.redact_derived(found) == found


RULES_FOR_NAMES = tuple(
    re.compile(rule.pattern, rule.flags)
    for rule in (
        redaction_rules._BLOCK,
        redaction_rules._ASSIGNED,
        redaction_rules._ELEMENT,
        redaction_rules._PAIR,
    )
)
ASCII = st.characters(codec="ascii")


@pytest.mark.seconds
@given(st.sampled_from(RULES_FOR_NAMES).flatmap(lambda rule: st.from_regex(rule, alphabet=ASCII)))
def test_no_text_with_a_secret_name_skips_the_rules_for_names(text):
    assert redaction_rules.may_name_secret(text)


@pytest.mark.parametrize(
    "name", ["psk", "pass", "mysql_pwd", "registry_auth", "masterauth", "x-amz-credential", "TOKEN"]
)
def test_a_value_after_a_rare_name_of_a_secret_does_not_stay(name):
    assert redact(f"{name}=hunter2") == f"{name}={MARK}"


@pytest.mark.parametrize("text", ["to\u212aen: hunter2", "pa\u017f\u017fword: hunter2"])
def test_letters_of_other_alphabets_that_equal_ascii_ones_hide_no_secret(text):
    """If case is ignored, the sign for kelvin is a `k`, and the long s is an `s`."""
    assert "hunter2" not in redact(text)
