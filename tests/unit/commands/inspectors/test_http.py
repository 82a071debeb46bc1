"""A call of an HTTP client is a read only if its words send no change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.commands.classify import examine
from pulsus.commands.inspectors import http
from pulsus.commands.judge_context import JudgeContext

CONTEXT = JudgeContext()

ASKS = [
    "curl example.com",
    "curl -s http://h/a?b=c&",
    "curl -fsSLk --max-time 3 https://h",
    "curl -v --http2 https://h/path#part",
    "curl 'http://user:pw@h:8080/'",
    "curl http://[fe80::1%25eth0]/",
    "curl -XHEAD http://h",
    "curl -X OPTIONS http://h -i",
    "curl --get -d a=b -d c=d http://h",
    "curl -sSGd 'match[]={job=\"x\"}' http://h:9090/api/v1/series",
    "curl 'http://h/{a,b}/[1-9].txt'",
    "curl -w '%{json}' -so /dev/null http://h",
    "curl -D- -o/dev/null http://h",
    "curl -H 'X-Api-Key: a' http://h",
    "curl -u : --negotiate http://h",
    "curl -A 'a b' --compressed http://h",
    "curl --abstract-unix-socket x http://h/version",
    "curl --unix-socket /run/docker.sock 'http://d/v1.41/events?since=1&until=2'",
    "timeout 3 curl --unix-socket /run/docker.sock http://d/events",
    "curl -V",
    "curl https://h | jq .",
    "wget -qO- https://h | head",
    "wget --spider -S http://h",
    "wget -q -O- -T 5 -t1 http://h",
    "wget -nv -O - http://h",
    "wget -O- --header='A: b' http://h",
]

DOES_NOT = [
    "curl -X POST http://h",
    "curl -X PURGE http://h",
    "curl -X propfind http://h",
    "curl -X get http://h",
    "curl -sX PUT http://h",
    "curl -vsXPATCH http://h",
    "curl -sd@f http://h",
    "curl -d '' http://h",
    "curl -Gd@f http://h",
    "curl -G --data-binary @f http://h",
    "curl -G --data-urlencode @f http://h",
    "curl --data-raw '{}' http://h",
    "curl --json '{}' http://h",
    "curl --url-query 'a@f' http://h",
    "curl -sSo x http://h",
    "curl -o/tmp/x http://h",
    "curl -OJ http://h/x",
    "curl -c x http://h",
    "curl --cookie-jar=x http://h",
    "curl -Dx http://h",
    "curl --trace x http://h",
    "curl --trace-asc - http://h",
    "curl --stderr x http://h",
    "curl --etag-save x http://h",
    "curl --hsts x https://h",
    "curl --alt-svc x https://h",
    "curl -K- http://h",
    "curl -H@f http://h",
    "curl -H 'x-http-method: DELETE' http://h",
    "curl -H 'X-Method-Override: DELETE' http://h",
    "curl --expand-url http://h",
    "curl --variable %HOME http://h",
    "curl -b jar http://h",
    "curl -w '%{url}%output{>>x}' http://h",
    "curl FILE:///etc/hostname",
    "curl file:/etc/hostname",
    "curl scp://h/x",
    "curl telnet://h:23",
    "curl ldap://h/x",
    "curl ftp.example.com",
    "curl DICT.example.com/d:x",
    "curl 'gopher{a,b}://h'",
    "curl '{file,http}:///etc/hostname'",
    "curl 'http://h/[1-1000000]'",
    "curl 'http://h/[a-z][a-z]'",
    "curl 'http://h/[0000000001-9999999999]'",
    "curl 'http://169.254.169.{254,253}/latest/meta-data'",
    "curl http://169.254.169.254/latest/meta-data/iam/security-credentials/r",
    "curl http://2852039166/latest/meta-data",
    "curl http://0xA9FEA9FE/latest",
    "curl http://0251.0376.0251.0376/latest",
    "curl 'http://[::ffff:169.254.169.254]/latest'",
    "curl http://169.254.0xa9fe/latest",
    "curl http://metadata.google.internal./computeMetadata/v1/",
    "curl http://instance-data/latest",
    "curl http://168.63.129.16/machine?comp=goalstate",
    "curl -x http://169.254.169.254 http://h/latest",
    "curl --connect-to ::169.254.169.254: http://h/latest",
    "curl -A 'a\nDELETE / HTTP/1.1' http://h",
    "curl http://metadata.google.internal/computeMetadata/v1/",
    "curl *://h",
    "curl h*",
    "curl 'http://h/a b'",
    "curl 'https://h/logs?follow=1'",
    "curl --unix-socket /run/docker.sock http://d/containers/a/stats",
    "curl http://h --next -X DELETE http://h",
    "curl http://h -: -d a http://h",
    "curl -Lo x http://h",
    "curl -O http://h -o -",
    "curl --unix-socket /run/docker.sock http://d/distribution/h/x/json",
    "curl --unix-socket /run/docker.sock 'http://d/v1.41/plugins/privileges?remote=h/x'",
    "curl http://localhost:2375/images/search?term=x",
    "wget h",
    "wget -O x h",
    "wget -Ox h",
    "wget -nvO x h",
    "wget --output-doc=- h",
    "wget -O - -o log h",
    "wget -O - -i list",
    "wget --spider -r h",
    "wget --spider -m h",
    "wget --spider --post-file=f h",
    "wget --spider -e 'post_data=x' h",
    "wget --spider --method=DELETE h",
    "wget --spider --use-askpass=x h",
    "wget -qO- --load-cookies c h",
    "wget -qO- ftp://h/x",
    "wget -qO- http://h https://169.254.169.254/x",
]


@pytest.mark.parametrize("command", ASKS)
def test_a_request_that_only_asks_is_a_read(command):
    found = examine(command.removesuffix("&"), CONTEXT).deciding
    assert found.is_read, found.reason


def test_a_request_that_sends_or_writes_is_refused():
    assert [command for command in DOES_NOT if examine(command, CONTEXT).deciding.is_read] == []


@pytest.mark.parametrize(
    ("command", "category"),
    [
        ("curl 'https://h/api/v1/pods?watch=1'", "unbounded_stream"),
        ("curl --unix-socket /run/docker.sock http://d/events", "unbounded_stream"),
        ("curl -u root https://h", "interactive_repl"),
    ],
)
def test_a_request_that_does_not_end_or_asks_says_so(command, category):
    assert examine(command, CONTEXT).deciding.category == category


@given(st.text())
def test_no_address_makes_the_inspector_raise(text):
    http.url((text,), "docker")
    http.user((text,), "")
