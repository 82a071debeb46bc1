"""Does this call of a cloud's own client only read, by how the client names its operations?

aws is `SERVICE OPERATION --option value…`, az is `GROUP… VERB --option value…`, linode-cli is
`GROUP ACTION ID… --option value…`. None of them takes an operation from anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from pulsus.commands.content import Opinion

_AZ_SECRETS: Final = re.compile(
    r"(.+-)?keys?(-.+)?|.*(secret|cred|password|token|publishing|connection-string|appsettings).*"
    r"|auth|kv|user-assigned-secret|device-identity|module-identity|directline|test-endpoint"
    r"|sas|shared-access-.*|.*-sas|(.+-)?policy-keys"
)
"""Words of a call of az that stand for what hands out keys, or settings that hold them."""

_AZ_SECRET_GROUPS: Final = (
    ("iot", "hub", "policy"),
    ("iot", "dps", "policy"),
    ("iot", "hub", "identity"),
    ("containerapp", "show"),
    ("containerapp", "list"),
    ("containerapp", "revision"),
    ("containerapp", "job"),
    ("webapp", "config", "container"),
    ("functionapp", "config", "container"),
    ("batch", "pool"),
    ("network", "vpn-connection"),
)
_AWS_SECRETS: Final = re.compile(
    r"lambda (list-functions|list-versions-by-function|get-function.*)"
    r"|ec2 describe-(vpn-connections|launch-template-versions|spot-instance-requests"
    r"|spot-fleet-requests)|ec2 get-launch-template-data"
    r"|autoscaling describe-launch-configurations"
    r"|ecs describe-task-definition|batch describe-(job-definitions|jobs)"
    r"|elasticbeanstalk describe-configuration-(settings|options)"
    r"|codebuild batch-get-(projects|builds)|apprunner describe-service"
    r"|amplify (list|get)-(apps?|branch(es)?)"
    r"|lightsail get-(container-services?.*|instance-access-details)"
    r"|sagemaker describe-(training-job|model|processing-job)"
    r"|glue get-(job|jobs|connection|connections)"
    r"|cognito-idp describe-(user-pool-client|identity-provider)"
    r"|directconnect describe-virtual-interfaces"
    r"|opsworks describe-.*|mwaa get-environment|transfer describe-connector"
    r"|appflow describe-.*|quicksight describe-data-source"
    r"|iam list-(ssh-public-keys|signing-certificates)|ivs .*|medialive describe-input.*"
    r"|emr describe-step"
)
"""Operations whose answer holds environments, settings of start-up or keys among other things."""

_HARMLESS: Final = re.compile(
    r"[a-z]*(name|names|arn|arns|status|state|runtime|version|revision|modified|size|memory|timeout"
    r"|handler|id|ids|type|family|cpu|count|length|zone|region|created|date|time)",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_OPTION: Final = re.compile(r"--[a-z0-9]+(-[a-z0-9]+)*(=.*)?", re.DOTALL)
_SECRETS: Final = re.compile(
    r"secret-value|password|credential|token|login|access-key|api-key|private-key|ssh-key-|keys$"
    r"|connection-string|decrypt"
)

_AWS_READS: Final = re.compile(r"(describe|list)-[a-z0-9-]+")
_AWS_ALSO: Final = frozenset(
    {
        *("dynamodb scan", "dynamodb query", "dynamodb batch-get-item", "s3 ls"),
        *("logs filter-log-events", "cloudformation validate-template", "configure list"),
        *("configure list-profiles", "cloudwatch get-metric-statistics", "history list"),
        *("iam simulate-principal-policy", "sts decode-authorization-message"),
        *("kms list-keys", "logs tail"),
    }
)
_AWS_GETS: Final = re.compile(
    r"(head-(object|bucket)|lookup-events|get-("
    r"account-(summary|settings|authorization-details|attributes|limit|status)|analyzer|analyzer-findings"
    r"|attribute-values|bucket-[a-z-]+|caller-identity|cost-[a-z-]+|dimension-values|usage-forecast"
    r"|dashboard|database|databases|table|tables|partition|partitions|crawler|crawlers|job|job-run|job-runs"
    r"|deployment|deployments|distribution|distribution-config|invalidation|document|findings|detector"
    r"|function|function-concurrency|function-url-config|policy|policy-version|layer-version"
    r"|group|role|user|user-policy|role-policy|group-policy|instance-profile|login-profile|account"
    r"|hosted-zone|health-check|health-check-status|change|instance|instances|instance-state|bundles|regions"
    r"|item|records|queue-url|queue-attributes|topic-attributes|subscription-attributes"
    r"|log-events|log-group-fields|query-results|query-execution|work-group"
    r"|metric-statistics|metric-data|metric-widget-image"
    r"|named-query|pipeline|pipeline-state|pipeline-execution|products|price-list-file-url"
    r"|public-access-block|object-(acl|attributes|tagging|lock-configuration|retention|legal-hold)"
    r"|repository|repository-policy|lifecycle-policy|branch|commit|pull-request|file|folder"
    r"|resource|resources|rest-api|rest-apis|stage|stages|api|apis|integration|method|models"
    r"|resource-policy|secret-policy|rule|rule-group|rules|web-acl|ip-set"
    r"|sampled-requests|service-quota|service-last-accessed-details|stack-policy|template|template-summary"
    r"|tag-keys|tag-values|tags|trail|trail-status|event-selectors|insight-selectors"
    r"|command-invocation|inventory|maintenance-window|patch-baseline|automation-execution"
    r"|compliance-details-by-config-rule|discovered-resource-counts|resource-config-history"
    r"|console-output|ebs-encryption-by-default|managed-prefix-list-entries"
    r"|send-quota|send-statistics|identity-verification-attributes|vault-policy|backup-plan|backup-vault"
    r"|trace-summaries|service-graph|workflow|workflow-run|state-machine|execution-history))"
)
"""Names that are no more than what they say; others of the kind hand out secrets or take work."""
_MANY: Final = frozenset(
    {
        *("--instance-ids", "--image-ids", "--volume-ids", "--snapshot-ids", "--group-ids"),
        *("--subnet-ids", "--vpc-ids", "--filters", "--names", "--owners", "--attribute-names"),
        *("--alarm-names", "--statistics", "--dimensions", "--metrics", "--group-by", "--clusters"),
        *("--services", "--tasks", "--include", "--load-balancer-arns", "--target-group-arns"),
        *("--auto-scaling-group-names", "--log-group-names", "--log-stream-names", "--key-names"),
        *("--allocation-ids", "--public-ips", "--network-interface-ids", "--route-table-ids"),
        *(
            "--region-names",
            "--zone-names",
            "--instance-types",
            "--nat-gateway-ids",
            "--group-names",
        ),
        *("--tag-filters", "--resource-type-filters", "--launch-template-ids"),
    }
)
"""Options of aws that take several values."""
_AWS_REFUSED: Final = (
    *("--endpoint-url", "--cli-input-json", "--cli-input-yaml", "--cli-auto-prompt"),
    *("--no-verify-ssl", "--ca-bundle", "--with-decryption", "--outfile", "--debug"),
)
_AZ_READS: Final = re.compile(r"list|show|exists|list-[a-z-]+|show-[a-z-]+|get-[a-z-]+")
_AZ_ALSO: Final = frozenset({"version"})
_AZ_NO_GROUPS: Final = frozenset(
    {
        *(
            "config",
            "find",
            "interactive",
            "init",
            "rest",
            "secret",
            "feedback",
            "survey",
            "upgrade",
        ),
        *(
            "set",
            "unset",
            "add",
            "create",
            "delete",
            "update",
            "remove",
            "start",
            "stop",
            "restart",
        ),
        *("run", "invoke", "execute", "import", "export", "purge", "cache", "extension"),
    }
)
"""What takes words that are no verb, or is a verb: a verb behind it is a name."""
_AZ_REFUSED: Final = (
    *("--file", "--output-file", "--destination", "--dest", "--path", "--debug", "--open-browser"),
    *("--with-secrets", "--with-secret", "--show-secrets", "--show-secret", "--show-values"),
    *("--include-secrets", "--include-keys", "--show-keys", "--reveal", "--expand-secrets"),
    *("--account-key", "--connection-string", "--sas-token", "--web", "--open"),
    *("--outfile", "--out-file", "--output-dir", "--output-folder", "--output-path"),
)
_AZ_SHORT: Final = frozenset(
    {"-g", "-n", "-o", "-l", "-s", "-t", "-a", "-i", "-c", "-d", "--output"}
)
_OF_A_FILE: Final = {"aws": re.compile(r"(^|=)fileb?://"), "az": re.compile(r"(^|=)@.", re.DOTALL)}
"""Values for which a client takes what stands in a file."""
_LINODE_READS: Final = re.compile(r"(.+-)?(list|ls|view)")
_LINODE_SECRETS: Final = re.compile(
    r"creds|kubeconfig|tokens?-|(?<!ssh)keys?-(list|ls|view)|secret"
)
_LINODE_REFUSED: Final = ("--as-user", "--debug")


def inspect(words: tuple[str, ...], argument: str) -> Opinion:
    """Whether the call reads; `argument` is the client: aws, az or linode."""
    of_a_file = _OF_A_FILE.get(argument)
    if of_a_file and (sent := next(filter(of_a_file.search, words), None)):
        return _no(sent, "it sends what stands in that file")
    return _CLIENTS[argument](words)


def _aws(words: Sequence[str]) -> Opinion:
    if len(words) < 2 or not all(_PLAIN.fullmatch(word) for word in words[:2]):
        return _no(words[0], "a service and an operation are not named by plain words")
    service, operation = words[:2]
    if (service, operation) in {("ssm", "start-session"), ("ecs", "execute-command")}:
        return replace(_no(operation, "it opens a session"), category="interactive_repl")
    if words[:2] == ("s3", "cp") and words[2:4][-1:] == ("-",) and words[2].startswith("s3://"):
        return _options(words[4:], _AWS_REFUSED, frozenset()) or _yes("aws", "s3 cp … -")
    known = f"{service} {operation}" in _AWS_ALSO
    named = _AWS_READS.fullmatch(operation) or _AWS_GETS.fullmatch(operation)
    if not known and not named:
        return _no(operation, "aws is not known to read with it")
    if _SECRETS.search(operation) and not known:
        return _no(operation, "it can print a secret")
    if any(word.lower().rpartition("=")[2] == "userdata" for word in words[2:]):
        return _no(operation, "it prints what a machine is started with, secrets too")
    if _AWS_SECRETS.fullmatch(f"{service} {operation}") and not _picks_others(words[2:]):
        return _no(operation, "it prints environments or keys, if --query picks nothing else")
    one = 1 if service == "s3" or operation == "tail" else 0
    refused = _AWS_REFUSED if operation != "tail" else (*_AWS_REFUSED, "--follow")
    return _options(words[2:], refused, frozenset(), operands=one) or _yes("aws", operation)


def _picks_others(words: Sequence[str]) -> bool:
    """Whether `--query` picks only parts that hold no secret: each name at the end of a path."""
    values = [word[8:] for word in words if word.startswith("--query=")]
    values += [b for a, b in pairwise(words) if a == "--query"]
    if len(values) != 1:
        return False
    query = re.sub(r"'[^']*'|`[^`]*`|[=<>!]=?|&&|\|\|", "", values[0])
    if re.search(r"[@*](?!\])|\[\s*\]\s*$|\bvalues\b|to_\w+\(", query):
        return False
    ends = re.findall(r"([A-Za-z]+)\s*(?=[\],}|)]|$)", query)
    return bool(ends) and all(_HARMLESS.fullmatch(end) for end in ends)


def _az(words: Sequence[str]) -> Opinion:
    path = _leading(words)
    if not path or not all(_PLAIN.fullmatch(word) for word in path):
        return _no(words[0], "a group and a verb are not named by plain words")
    verb = path[-1]
    if path[0] in {"interactive", "login"}:
        return replace(_no(verb, "it asks"), category="interactive_repl")
    if " ".join(path) not in _AZ_ALSO and (len(path) < 2 or not _AZ_READS.fullmatch(verb)):
        return _no(verb, "az is not known to read with it")
    if any(word in _AZ_NO_GROUPS for word in path):
        return _no(verb, "what stands before it is no group that az is known to read with")
    secret = any(_SECRETS.search(word) or _AZ_SECRETS.fullmatch(word) for word in path)
    if secret or any(path[: len(group)] == group for group in _AZ_SECRET_GROUPS):
        return _no(verb, "it can print a secret")
    return _options(words[len(path) :], _AZ_REFUSED, _AZ_SHORT, several=True) or _yes("az", verb)


def _linode(words: Sequence[str]) -> Opinion:
    path = _leading(words)
    if len(path) < 2 or not all(_PLAIN.fullmatch(word) for word in path[:2]):
        return _no(words[0], "a group and an action are not named by plain words")
    if not _LINODE_READS.fullmatch(path[1]) or path[0] in {"configure", "obj", "image-upload"}:
        return _no(path[1], "linode-cli is not known to read with it")
    if _LINODE_SECRETS.search(path[1]):
        return _no(path[1], "it can print a secret")
    rest = words[len(path) :]
    return _options(rest, _LINODE_REFUSED, frozenset()) or _yes("linode-cli", path[1])


def _leading(words: Sequence[str]) -> Sequence[str]:
    end = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return words[:end]


def _options(
    words: Sequence[str],
    refused: Sequence[str],
    short: frozenset[str],
    *,
    operands: int = 0,
    several: bool = False,
) -> Opinion | None:
    """What is wrong with the options, or None.

    An option has one value, those of `_MANY` any number (`several`: each may): a further word may
    be the file that a result is written to. `operands` may stand before the options.
    """
    room: float = operands
    for word in words:
        if not word.startswith("-"):
            room -= 1
        elif word in short:
            room = float("inf") if several else 1
        elif not _OPTION.fullmatch(word):
            return _no(word, "not a plain option")
        elif word == "--follow":
            return Opinion(
                False, "it follows and does not end; leave it out", word, "unbounded_stream"
            )
        elif any(one.startswith(word.partition("=")[0]) for one in refused):
            return _no(word, "it chooses where things go to or come from")
        else:
            room = float("inf") if several or word in _MANY else 1
        if room < 0:
            return _no(word, "one word more than it is known to read with")
    return None


def _no(word: str, rule: str) -> Opinion:
    return Opinion(reads=False, rule=rule, word=word)


def _yes(client: str, word: str) -> Opinion:
    return Opinion(reads=True, rule=f"what {client} calls so only reads", word=word)


_CLIENTS: Final[Mapping[str, Callable[[Sequence[str]], Opinion]]] = {
    "aws": _aws,
    "az": _az,
    "linode": _linode,
}
