"""Tell in which place a command names a thing: another machine, a namespace, another kind of thing.

A read in another place does not verify a write.

A container, a network and an image may share a name, and so may a service here and on another host.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from pulsus.commands.shell.words import Word
from pulsus.commands.shell.wrappers import program_name

_SYSTEMD: Final = frozenset({"-H", "--host", "-M", "--machine"})
_DOCKER: Final = frozenset({"-H", "--host", "-c", "--context", "--config"})
_KUBERNETES: Final = frozenset(
    {
        "--context",
        "-n",
        "--namespace",
        "--kubeconfig",
        "--cluster",
        "-s",
        "--server",
        "--kube-context",
    }
)
_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("systemctl", "loginctl", "hostnamectl", "timedatectl", "busctl", "systemd-analyze"),
        _SYSTEMD,
    ),
    "journalctl": frozenset(
        {"-M", "--machine", "-D", "--directory", "--root", "--file", "--image"}
    ),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _DOCKER),
    **dict.fromkeys(("kubectl", "oc", "helm"), _KUBERNETES),
}
"""Options that say where a program looks."""
_SPELLED: Final = {"--namespace": "-n", "--host": "-H", "--machine": "-M", "--context": "-c"}
_GROUPS: Final = frozenset(
    {"network", "volume", "image", "images", "context", "plugin", "secret", "config", "stack"}
)
"""Kinds of things of a container engine, beside the containers."""
_KINDS: Final = {
    "po": "pod", "svc": "service", "deploy": "deployment", "sts": "statefulset", "no": "node",
    "ds": "daemonset", "ns": "namespace", "cm": "configmap", "ing": "ingress", "rs": "replicaset",
    "pvc": "persistentvolumeclaim", "pv": "persistentvolume", "cj": "cronjob", "ep": "endpoint",
    "hpa": "horizontalpodautoscaler", "sa": "serviceaccount", "ingresses": "ingress",
}  # fmt: skip
_KIND_VERBS: Final = frozenset({"get", "describe", "delete", "scale", "patch", "edit", "label"})
HERE: Final = " at here"


def named_in_place(name: str, words: Sequence[Word]) -> Iterator[str]:
    """Yield the name as a call has it: with each place and kind that its words say."""
    program = program_name(words)
    options = _OPTIONS.get(program)
    if program == "ssh":
        host = next((word.text for word in words[1:] if word.text[:1] != "-"), "")
        yield f"{name} at ssh {host}"
    elif options is None:
        yield name
        yield name + HERE
    else:
        places = sorted(_places(words, options))
        for kind in _kinds_of(program, words):
            yield f"{name} at {' '.join((*places, *filter(None, [kind]))) or HERE.split()[-1]}"


def is_placed(words: Sequence[Word]) -> bool:
    """Return True for a program that may look elsewhere than here."""
    return program_name(words) in {*_OPTIONS, "ssh"}


def place_of_listing(words: Sequence[Word]) -> str:
    """Return what follows the name of a listing that is not the usual one, or an empty text."""
    program = program_name(words)
    if program == "ssh":
        return " elsewhere"
    places = sorted(_places(words, _OPTIONS.get(program, frozenset())))
    group = next(iter(_kinds_of(program, words)), "") if program in {"docker", "podman"} else ""
    return "".join(f" {each}" for each in (*places, group) if each)


def _places(words: Sequence[Word], options: frozenset[str]) -> Iterator[str]:
    texts = [word.text for word in words[1:]]
    if "--user" in texts and program_name(words) in {"systemctl", "journalctl"}:
        yield "--user"
    for text, following in pairwise([*texts, ""]):
        option, equals, value = text.partition("=")
        if option in options:
            yield f"{_SPELLED.get(option, option)} {value if equals else following}"
        elif text[:2] in options and text[:2] != "--" and len(text) > 2:
            yield f"{text[:2]} {text[2:]}"


def _kinds_of(program: str, words: Sequence[Word]) -> tuple[str, ...]:
    """Return the kinds of things that the call is about; an empty one is the usual kind."""
    operands = _operands(words, _OPTIONS.get(program, frozenset()))
    if program in {"docker", "podman", "nerdctl"}:
        group = operands[0] if operands and operands[0] in _GROUPS else ""
        return (group.rstrip("s") if group == "images" else group,)
    if program not in {"kubectl", "oc"}:
        return ("",)
    named = [operand.partition("/")[0] for operand in operands if "/" in operand]
    verbs = [at for at, text in enumerate(operands) if text in _KIND_VERBS]
    if not named and verbs and operands[verbs[0] + 1 :]:
        named = operands[verbs[0] + 1].split(",")
    if not named and {"logs", "exec"} & {*operands}:
        named = ["pod"]
    return tuple(dict.fromkeys(map(_kind, named))) or ("",)


def _kind(text: str) -> str:
    plain = text.casefold().partition(".")[0]
    return _KINDS.get(
        plain, plain.removesuffix("s") if len(plain) > 3 and plain[-2:] != "ss" else plain
    )


def _operands(words: Sequence[Word], options: frozenset[str]) -> list[str]:
    found, skip = [], False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.text[:1] == "-":
            skip = word.text in options
        else:
            found.append(word.text)
    return found
