"""Forms in which programs write secrets: none comes through, and their neighbours stay."""

import base64
import json
import time
from urllib.parse import quote

import pytest

from pulsus.core.telemetry.redaction import Redactor, redact, redact_value

S = "Tr0ub4dor"
"""A part of every secret: it may stand in no redacted text."""

B64 = base64.b64encode(f"bob:{S}-and-more".encode()).decode()
KEY = "MIIE" + S + "aB3" * 18
"""A line of a key in base64."""


def shape(*parts: str) -> str:
    """Return a secret with a maker's shape, from pieces: no scanner takes this file for a leak."""
    return "".join(parts)


LEAKS = {
    "address": [
        f"https://bob:{S}@host/x",
        f"https://bob:{S}%40x%2Fy@host/x",
        f"postgres://bob:{S}/a?b#c@host:5432/x",
        f"https://bob:a/{S}@host/x",
        f"amqp://bob:a#{S}@host",
        f"https://{S}aB3dE5fG7hJ9@github.com/o/r.git",
        f"redis://:{S}!$&()*+,;=~@cache:6379/0",
        f"mongodb+srv://bob:{S}'x\"y@host/x",
        f"https%3A%2F%2Fbob%3A{S}%40host%2Fx",
        f"jdbc:mysql://host/x?user=bob&password={S}",
        f"jdbc:oracle:thin:bob/{S}@host:1521:x",
        f"git clone https://oauth2:{S}@gitlab.com/o/r.git",
        f"smb://DOM;bob:{S}@host/s",
        f"ftp://bob@corp.example:{S}@host/x",
    ],
    "query": [
        f"https://h/x?api_key={S}",
        f"https://h/x?a=1&access_token={S}&b=2",
        f"https://h/cb#access_token={S}&token_type=bearer",
        f"https://h/x?auth={S}abcd",
        f"https://h/x?apikey={S}",
        f"https://h/x?sv=2022&sig={S}%2Babc%3D",
        f"https://h/x?X-Goog-Signature={S}abcdef",
        f"https://h/x?client_secret={S}",
        f"https://h/x?pwd={S}",
        f"https://h/x?pass={S}",
        f"grant_type=password&username=bob&password={S}&scope=x",
        f"%7B%22password%22%3A%22{S}%22%7D",
        f"%7B%22password%22%3A%20%22{S}%20{S}%22%7D",
        f"https://h/x?sessionid={S}abcd",
        f"https://h/x?key={S}abcd",
        f"https://h/reset?code={S}abcd",
    ],
    "header": [
        f"Authorization: Basic {B64}",
        f'Authorization: Digest username="bob", response="{S}"',
        f"Authorization: Token {S}",
        f"Authorization: Token token={S}",
        f"Authorization: ApiKey {S}",
        f"Authorization: Negotiate {S}abc==",
        f"Authorization: {S}",
        f"Authorization: AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature={S}",
        f"Authorization: OAuth realm=x, oauth_token={S}",
        f"Proxy-Authorization: Basic {S}abc",
        f"authorization:Bearer {S}",
        f"'Authorization': 'Custom a=1, b={S}'",
        f"-H 'X-Api-Key: {S}'",
        f"X-Auth-Token: {S}",
        f"X-Vault-Token: {S}",
        f"PRIVATE-TOKEN: {S}",
        f"X-Amz-Security-Token: {S}",
        f"Cookie: a=1; sid={S}",
        f"Set-Cookie: session={S}; Path=/; HttpOnly",
        f"'Cookie': 'sid={S}; b=2'",
        f'{{"Cookie": "a=1; sid=\\"{S}\\""}}',
        f"curl -b 'sid={S}' https://h",
        f"curl --cookie sid={S} https://h",
        f"('Authorization', 'Basic {S}')",
        f"headers=[[b'authorization', b'Basic {S}']]",
        f"X-Csrf-Token: {S}",
    ],
    "named": [
        f'{{"dbPassword": "{S}"}}',
        f'{{"db_password" : "a\\"{S}"}}',
        f"{{'client_secret': '{S}'}}",
        f"{{'password': b'{S}'}}",
        f"User(name='bob', password='{S}')",
        f"password=SecretValue('{S}')",
        f"password: '{S} with a blank'",
        f'password = """{S}"""',
        f"password: >-\n  {S}\n  more\nnext: 1",
        f"password: |2\n    {S}\nnext: 1",
        f"password:\n  {S}\n",
        f'password:\n  "{S}"\n',
        f"passwords:\n  - {S}\n  - {S}2\nnext: 1",
        f"tokens:\n- {S}\n",
        f"spring.datasource.password={S}",
        f"db.pass={S}",
        f"export API_KEY={S}",
        f"set -x DB_PASSWORD {S}",
        f"$env:DB_PASSWORD = '{S}'",
        f"ENV DB_PASSWORD {S}",
        f"X_SECRET_ACCESS_KEY={S}",
        f"client-secret: {S}",
        f"clientSecret={S}",
        f"passphrase: {S}",
        f"pwd: {S}",
        f"pwd={S}",
        f"userPwd={S}",
        f"PIN: {S}",
        f"pin=98{S}",
        f"credential: {S}",
        f"credentials={S}",
        f"passcode: {S}",
        f"otp_secret={S}",
        f"encryptionKey: {S}",
        f"master_key={S}",
        f"connectionString=Server=h;Password={S};",
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={S}==;EndpointSuffix=x",
        f"SharedAccessKey={S}=",
        f"SharedAccessSignature sr=x&sig={S}&se=1",
        f"<password>{S}</password>",
        f"<password><![CDATA[{S}]]></password>",
        f'<password type="x">{S}</password>',
        f'<user name="bob" password="{S}"/>',
        f"<user password='{S}'>",
        f'<input type="password" value="{S}">',
        f'<input type="hidden" name="csrf_token" value="{S}">',
        f"&quot;password&quot;: &quot;{S}&quot;",
        f"pass\u200bword={S}",
        f"p\u0430ssword={S}",
        f"ｐａｓｓｗｏｒｄ={S}",
        f"pass\x1b[1mword\x1b[0m={S}",
        f"password\u00a0=\u00a0{S}",
        f"password：{S}",
        f"pass\u00adword: {S}",
    ],
    "language": [
        f"Passwort: {S}",
        f"Kennwort={S}",
        f"Das Passwort lautet {S}",
        f"mot de passe : {S}",
        f"motdepasse={S}",
        f"contraseña: {S}",
        f"contrasena={S}",
        f"senha: {S}",
        f"hasło: {S}",
        f"пароль: {S}",
        f"parola: {S}",
        f"wachtwoord: {S}",
        f"lösenord: {S}",
        f"密码：{S}",
        f"パスワード: {S}",
        f"비밀번호: {S}",
        f"the password is {S}",
        f"password is: {S}",
        f"Schlüssel: Geheimnis={S}",
    ],
    "option": [
        f"mysql -u root -p{S} shop",
        f"mysql --password={S} shop",
        f"mysqldump -uroot -p'{S} x' shop",
        f"mariadb-dump -p{S}",
        f"tool --password {S}",
        f"tool --password={S}",
        f"tool --password '{S} x'",
        f"tool --token={S}",
        f"tool --api-key {S}",
        f"tool --client-secret {S}",
        f"tool --secret-key={S}",
        f"tool --passphrase {S}",
        f"tool --pass {S}",
        f"tool --pwd {S}",
        f"tool --credentials {S}",
        f"tool -password {S}",
        f"tool /password:{S}",
        f"curl -u bob:{S} https://h",
        f"curl -u 'bob:{S} x' https://h",
        f"curl --user=bob:{S} https://h",
        f"curl -sSubob:{S} https://h",
        f"curl --proxy-user bob:{S} https://h",
        f"wget --http-password={S} https://h",
        f"http -a bob:{S} https://h",
        f"sshpass -p {S} ssh h",
        f"sshpass -p{S} ssh h",
        f"sshpass -p '{S} x' ssh h",
        f"PGPASSWORD={S} psql",
        f"MYSQL_PWD={S} mysql",
        f"SSHPASS={S} sshpass -e ssh h",
        f"RESTIC_PASSWORD={S} restic snapshots",
        f"REDISCLI_AUTH={S} redis-cli",
        f"redis-cli -a {S}",
        f"redis-cli --pass {S}",
        f"mongosh -u a -p {S}",
        f"docker login -p {S} r.io",
        f"docker login --password {S}",
        f"echo {S} | docker login --password-stdin",
        f"echo '{S}' | sudo -S ls",
        f"echo bob:{S} | chpasswd",
        f"htpasswd -b f bob {S}",
        f"useradd -p {S} bob",
        f"net use X: \\\\h\\s {S} /user:bob",
        f"xfreerdp /u:bob /p:{S} /v:h",
        f"ipmitool -H h -U a -P {S} sel",
        f"psql 'host=h user=a password={S}'",
        f"openssl enc -k {S} -in x",
        f"openssl rsa -passin pass:{S}",
        f"gpg --batch --passphrase {S} -d x",
        f"7z x -p{S} a.7z",
        f"unzip -P {S} a.zip",
        f"zip -P {S} a.zip x",
        f"keytool -storepass {S} -list",
        f"aws configure set aws_secret_access_key {S}",
        f"vault login {S}",
        f"vault login token={S}",
        f"helm registry login -p {S} r.io",
        f"ansible-playbook -e ansible_password={S} x.yml",
        f"kubectl create secret generic x --from-literal=a={S}",
        f"lftp -u bob,{S} h",
        f"rclone obscure {S}",
        f"nmcli dev wifi connect net password {S}",
        f"winrm -p {S}",
        f"snmpwalk -v2c -c {S} h",
        f"influx -username a -password {S}",
        f"mosquitto_pub -u a -P {S} -t x",
        f"ffmpeg -headers 'Authorization: Bearer {S}'",
    ],
    "file": [
        f"machine h login bob password {S}",
        f"machine h\n  login bob\n  password {S}\n",
        f"default login bob password {S}",
        f"machine h password {S} login bob",
        f"h:5432:db:bob:{S}",
        f"*:*:*:bob:{S}",
        f"[client]\nuser=bob\npassword={S}\n",
        f'[client]\npassword = "{S} x"\n',
        shape("bob:$2y$05$", S, "aB3" * 14),
        shape("root:$6$ab$", S, "aB3" * 12, ":19000:0:99999:7:::"),
        shape("bob:{SHA}", S, "aB3aB3aB3aB3aB3aB3="),
        shape("{SSHA}", S, "aB3aB3aB3aB3aB3aB3aB3aB3"),
        shape("root:$y$j9T$ab$", S, "aB3" * 10, ":19000:0:::"),
        f"    token: {S}",
        f"    client-key-data: {S}",
        f"  password: {S}",
        f'{{"auths": {{"r": {{"auth": "{B64}"}}}}}}',
        f'{{"auth":"{S}ab=="}}',
        f"//registry.npmjs.org/:_authToken={S}",
        f"_password={S}",
        f"repository: x\nusername: __token__\npassword: {S}",
        f"psk={S}",
        f'psk="{S} x"',
        f"wpa_passphrase={S}",
        f"requirepass {S}",
        f"bindpw {S}",
        f"rootpw {S}",
        f"PrivateKey = {S}abc=",
        f"PresharedKey = {S}abc=",
        f"data:\n  password: {B64}",
        f"kind: Secret\ndata:\n  a.txt: {B64}\n",
        f"stringData:\n  a.txt: {S}\n",
        f"IDENTIFIED BY '{S}'",
        f"ALTER USER bob WITH PASSWORD '{S}'",
        f"CREATE ROLE bob LOGIN ENCRYPTED PASSWORD '{S}'",
        f"SET PASSWORD FOR 'bob'@'h' = '{S}'",
        f"username bob secret 5 {S}1",
        f"user bob password {S}",
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{S}\n",
    ],
    "key": [
        f"-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{KEY}\\n-----END OPENSSH PRIVATE KEY-----\\n",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{KEY}\n-----END PGP PRIVATE KEY BLOCK-----",
        f"-----BEGIN PRIVATE KEY-----\n{KEY}\n",
        f"{KEY}\n-----END PRIVATE KEY-----",
        f"{KEY}\n{KEY}\n-----END RSA PRIVATE KEY-----\nafter",
        f"----BEGIN SSH2 ENCRYPTED PRIVATE KEY----\n{KEY}\n----END SSH2 ENCRYPTED PRIVATE KEY----",
        f"> -----BEGIN PRIVATE KEY-----\n> {KEY}\n> -----END PRIVATE KEY-----",
        '"private_key": "-----BEGIN PRIVATE KEY-----\\n' + KEY + '\\n"',
        f"-----begin private key-----\n{KEY}\n-----end private key-----",
        f"-----BEGIN%20PRIVATE%20KEY-----%0A{KEY}%0A-----END%20PRIVATE%20KEY-----",
        base64.b64encode(f"-----BEGIN PRIVATE KEY-----\n{KEY}".encode()).decode(),
        base64.b64encode(f" -----BEGIN RSA PRIVATE KEY-----\n{KEY}".encode()).decode(),
        base64.b64encode(f"x\n-----BEGIN RSA PRIVATE KEY-----\n{KEY}".encode()).decode(),
        shape("AGE-SECRET-KEY-1", "TR0UB4D0R" * 6),
    ],
    "shape": [
        shape("AK", "IA", "TR0UB4DORAAAAAAA"),
        shape("AS", "IA", "TR0UB4DORAAAAAAA"),
        shape("gh", "p_", S, "a1B2" * 8),
        shape("gh", "s_", S, "a1B2" * 8),
        shape("github", "_pat_", S, "a1B2" * 8),
        shape("gl", "pat-", S, "a1B2" * 4),
        shape("xo", "xb-", "123-456-", S),
        shape("xa", "pp-1-", S, "-123456"),
        shape("sk_", "live_", S, "a1B2" * 5),
        shape("rk_", "live_", S, "a1B2" * 5),
        shape("np", "m_", S, "a1B2" * 7),
        shape("py", "pi-", S, "a1B2" * 14),
        shape("sk-", "proj-", S, "a1B2" * 8),
        shape("sk-", "ant-api03-", S, "a1B2" * 8),
        shape("h", "f_", S, "a1B2" * 7),
        shape("123456789", ":AA", S, "a1B2" * 8),
        shape("M", "Tr0ub4dorTr0ub4dorTr0ub4", ".", "a1B2c3", ".", "a1B2" * 8),
        shape("S", "G.", S, "a1B2" * 4, ".", "a1B2" * 10),
        shape("hv", "s.", S, "a1B2" * 6),
        shape("s.", S, "a1B2aB3dE5fG7hJ"),
        shape("gl", "oas-", S, "a1B2" * 8),
        shape("ey", "J", S, "aB3", ".", "ey", "J", S, "aB3", ".", S),
        shape("gl", "ptt-", S, "a1B2" * 8),
        shape("AI", "za", S, "a1B2" * 7)[:39],
    ],
    "split": [
        f"password=\x1b[31m{S}\x1b[0m",
        f"password:\x1b[0m \x1b[1m{S}",
        f"pass\x1b[0mword=\x1b[31m{S}",
        shape("gh", "p_", "a1B2" * 4, "\x1b[0m", S, "a1B2" * 4),
        shape("gh", "p_", "a1B2" * 4, "\u200b", S, "a1B2" * 4),
        f"Authorization: \x1b[33mBearer \x1b[0m{S}",
    ],
}
ROWS = [(family, text) for family, texts in LEAKS.items() for text in texts]


def hidden(text: str) -> bool:
    """Return True if no redacted spelling of the text has a part of the secret."""
    found = redact(text).replace("\x1b[0m", "").casefold()
    for part in (S, KEY[-40:], B64, "TR0UB4D0R"):
        if part.casefold() in found:
            return False
    return "TVNJRV" not in found and (text not in redact(text) or S not in text)


@pytest.mark.parametrize(
    ("family", "text"), ROWS, ids=[f"{f}-{n}" for n, (f, _) in enumerate(ROWS)]
)
def test_a_secret_in_this_form_does_not_come_through(family, text):
    assert hidden(text), redact(text)
    assert redact(text) != text


SAFE = [
    "user=bob host=db1 port=5432",
    "https://example.org:8443/a?page=2&sort=name#top",
    "https://example.org/@bob/posts/12345",
    "http://10.0.0.1:9090/graph?g0.expr=up",
    "git@github.com:o/r.git and ssh://git@host:22/r.git",
    "mail to bob@example.org: ok",
    "commit 390ff73b0c0de4fa8e2c3d1b5a6978f0e1d2c3b4",
    "plan_hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "image: nginx@sha256:9f86d081884c7d659a2feaa0c55ad015",
    "aa:bb:cc:dd:ee:ff fe80::1ff:fe23:4567:890a",
    "root:x:0:0:root:/root:/bin/bash",
    "nobody:*:65534:65534:nobody:/:/usr/sbin/nologin",
    "src/main.py:12:5: E501 line too long",
    "12:30:45 up 3 days, load average: 0.1, 0.2, 0.3",
    "the password is wrong",
    "your password was changed and the token is expired",
    "Das Passwort ist falsch",
    "set password policy to strong",
    "no password required; passwordless sudo",
    "author: bob, authority: none, authors=3",
    "auth: enabled",
    "pwd: /home/bob",
    "cwd=/srv pwd=/srv",
    "pins: 4 and spin=2, pinned=true, ping: ok",
    "credentials: /home/bob/.aws/credentials",
    "credential helper: osxkeychain",
    "keyboard layout: us, hotkey=f1, monkey: 1",
    "primary_key: id, foreign_key: user_id, key: name",
    "cookies are disabled",
    "session opened for user bob(uid=1000)",
    "sessions: 12 active",
    "docker run -p 8080:80 -u 1000 nginx",
    "ssh -p 2222 bob@host",
    "mkdir -p /srv/a && cp -p a b",
    "tar -czpf x.tgz . && zip -r a.zip x",
    "curl -sS -o /dev/null http://host:8080/health",
    "echo done | tee log",
    "echo hello | sudo tee /etc/motd",
    "kubectl get secret x -o name",
    "vault status",
    "nmcli dev status",
    "openssl x509 -in a.pem -noout -dates",
    "kind: ConfigMap\ndata:\n  a.txt: hello\n",
    "data:\n  rows: 3\n  name: x\n",
    "metadata:\n  name: secret-reader\n",
    "secrets:\n  - name: regcred\n",
    "secrets:\n  - db_password\n",
    "tokens:\n  total: 12\n",
    "\x1b[32mOK\x1b[0m all 12 checks passed",
    "Größe: 12 MB, Datei: prüfung.txt \u2192 fertig",
    "Сервер работает: загрузка 12 %",
    "＝＝＝ 結果 ＝＝＝",
    "LS0tIGhlbGxv",
    "a.b.c s.format s.startswith",
    "version 1.2.3-rc.1+build.5",
    "passes: 12, bypass=false, compass: north",
    "passenger: bob, passage=2",
    "tokenizer: bpe, token_count=12",
]


@pytest.mark.parametrize("text", SAFE)
def test_what_only_resembles_a_secret_stays(text):
    assert redact(text) == text


UNITS = [
    "://a:b", "://a:", "://a1", "%3A%2F%2Fa%3A", "jdbc:oracle:x:a/", 'authorization: "', "curl -b ",
    "authorization: a b=,", 'cookie: "', "htpasswd -b a b ", "useradd -p ", "7z -p", "lftp -u a,",
    "kubectl secret --from-literal=a=", "echo a | ", "password is ", "user a password ", "{SHA}",
    "env A_PASSWORD ", "set password ", "password:\n ", "tokens:\n- a\n", "a:1:b:c:d\n", "AAAA\n",
    "-----BEGIN A KEY-----", "-----END PRIVATE KEY-----", "LS0tLS1CRUdJTi", "stringData:\n a: b\n",
    "kind: Secret\ndata:\n a: b\n", "\x1b[", "\x1b]", "\u200b", "p\u0430sword=", "\uff41", '"""',
    "machine a password ", "pwd=", "pin=", "credential=", "&quot;", "%22", "<password ", "'''",
    "vault login ", "http -a a:", "mot de passe", "a.pass ", "-pwd ", "a-", "A", "-",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_no_form_makes_the_time_grow_with_the_square_of_a_text(unit):
    def seconds(size):
        text = unit * (size // len(unit))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    small = large = 0.0
    for _ in range(3):  # a busy machine is slow now and then; a square always is
        small, large = seconds(2_000), seconds(32_000)
        if large < 0.01 + small * 16 * 3:
            return
    pytest.fail(f"{small:.3f} s for 2 kB, {large:.3f} s for 32 kB")


@pytest.mark.parametrize("text", [text for _, text in ROWS])
def test_a_redacted_form_is_not_redacted_again(text):
    once = redact(text)
    assert redact(once) == once


SECRET = 'Zq-known/secret+Zq"ä'


@pytest.mark.parametrize(
    "spelt",
    [
        SECRET,
        quote(SECRET, safe=""),
        json.dumps(SECRET)[1:-1],
        json.dumps(json.dumps(SECRET)),
        SECRET.replace('"', "&quot;"),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        *(base64.b64encode(f"{before}{SECRET}z".encode()).decode() for before in ("", "a", "ab")),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        f"{SECRET[:6]}\x1b[0m{SECRET[6:]}",
        f"{SECRET[:6]}\u200b{SECRET[6:]}",
    ],
)
def test_a_known_secret_does_not_come_through_in_another_spelling(spelt):
    found = Redactor((SECRET,)).redact(f"saw {spelt} there")
    assert "[redacted]" in found
    assert spelt[4:-6] not in found


@pytest.mark.parametrize("key", ["pwd", "pass", "pin", "userPwd", "Passwort", "db_pass"])
def test_json_under_a_short_name_of_a_secret_does_not_come_through(key):
    assert redact_value({key: S}) == {key: "[redacted]"}
    assert redact_value({"pwd": "/home/bob", "pin": 4}) == {"pwd": "/home/bob", "pin": 4}
