"""Describe how well a value suits an input, as named features for the weights. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulsus.core.arguments.candidates import Candidate, fit_of_kind
from pulsus.core.arguments.inputs import NO_DEFAULT, Fillable, Input
from pulsus.core.arguments.spans import Span
from pulsus.core.text.tokens import STOP_WORDS, stem

_NEAR = 3
_SMALL = frozenset(
    ["in", "on", "at", "from", "to", "for", "of", "by", "with", "between", "under", "over", "above", "below", "within", "than", "least", "most", "until", "since", "after", "before", "until", "about", "named", "called", "titled", "is", "are", "as", "per", "via", "using", "into", "per", "like", "against", "through", "till", "during", "near", "around", "or", "and", "not", "last", "next", "past"]
)


class Scene:
    """The words of one request with their places, and the words near every place."""

    def __init__(self, request: str, words: Sequence[Span], tool: Fillable) -> None:
        self.request = request
        self.starts = [w.start for w in words]
        self.low = [w.text.lower() for w in words]
        self.stems = [stem(w) for w in self.low]
        self.tool = tool
        self.present = frozenset(self.stems)

    def before(self, at: int, count: int) -> list[int]:
        """Return the places of the last words that end before `at`, nearest first."""
        from bisect import bisect_left

        n = bisect_left(self.starts, at)
        return list(range(n - 1, max(-1, n - 1 - count), -1))

    def after(self, at: int, count: int) -> list[int]:
        """Return the places of the first words behind `at`, nearest first."""
        from bisect import bisect_left

        n = bisect_left(self.starts, at)
        return list(range(n, min(len(self.starts), n + count)))


def null_features(one: Input, scene: Scene, count: int) -> dict[str, float]:
    """Return the features of giving no value: what the input is, and what the request has."""
    named = bool(one.words & scene.present)
    need = (
        "required" if one.required else "default" if one.default is not NO_DEFAULT else "optional"
    )
    return {
        f"none|{need}": 1.0,
        f"none|{one.type}|{need}": 1.0,
        f"none|{one.role}|{need}": 1.0,
        f"none|named={named}|{need}": 1.0,
        f"none|candidates={min(count, 4)}|{need}": 1.0,
    }


def pair_features(
    one: Input, candidate: Candidate, scene: Scene, rivals: Mapping[int, int], same: int
) -> dict[str, float]:
    """Return the features of giving `candidate` to `one`.

    `rivals` counts the inputs that other places may go to; `same` the candidates of this kind.
    """
    need = "required" if one.required else "optional"
    kind = candidate.kind
    found: dict[str, float] = {
        f"kind={kind}": 1.0,
        f"{kind}|{one.type}": 1.0,
        f"{kind}|{one.role}": 1.0,
        f"{kind}|{need}": 1.0,
    }
    fit = fit_of_kind(one, kind)
    found[f"fit={min(fit, 3) if fit < 9 else 9}|{need}"] = 1.0
    if fit == 0:
        found[f"own kind|same={min(same, 3)}"] = 1.0
    before = scene.before(candidate.start, 6)
    after = scene.after(candidate.end, 4)
    _context(found, one, candidate, scene, before, after)
    _shape(found, one, candidate, scene)
    if candidate.unit:
        _unit(found, one, candidate)
    if kind in ("choice", "example", "listed", "flag", "negated", "choices", "examples"):
        found[f"{kind}|alike"] = candidate.alike
        found[f"{kind}|alike={int(candidate.alike * 4)}"] = 1.0
    found[f"{kind}|same={min(same, 4)}"] = 1.0
    found[f"{kind}|same={min(same, 4)}|rivals={min(rivals.get(candidate.start, 1), 4)}"] = 1.0
    for word in one.words:
        found[f"{kind}|name:{word}"] = 1.0
    return found


def _context(
    found: dict[str, float], one: Input, candidate: Candidate, scene: Scene,
    before: Sequence[int], after: Sequence[int],
) -> None:  # fmt: skip
    broad = _broad(candidate.kind)
    first = scene.low[before[0]] if before else "^"
    second = scene.low[before[1]] if len(before) > 1 else "^"
    if first in _SMALL or first == "^":
        found[f"{broad}|prep:{first}"] = 1.0
        for word in one.words:
            found[f"prep:{first}|name:{word}"] = 1.0
        found[f"prep:{first}|role:{one.role}"] = 1.0
        if second in _SMALL:
            found[f"prep:{second} {first}|role:{one.role}"] = 1.0
    for distance, place in enumerate(before[: _NEAR + 1]):
        word = scene.stems[place]
        if word in one.words:
            found[f"{broad}|named-{distance}"] = 1.0
            found["named before"] = 1.0
            break
    for distance, place in enumerate(after[:_NEAR]):
        if scene.stems[place] in one.words:
            found[f"{broad}|named+{distance}"] = 1.0
            found["named after"] = 1.0
            break
    near = {scene.stems[p] for p in (*before[:4], *after[:2]) if scene.low[p] not in STOP_WORDS}
    said = len(near & one.said)
    if said:
        found["said near"] = min(said, 3)
        found[f"{broad}|said near"] = 1.0
    if not near & (one.said | one.words):
        found[f"{broad}|nothing near"] = 1.0
    others = [o for o in scene.tool.inputs if o.place != one.place]
    for distance, place in enumerate(before[:_NEAR]):
        word = scene.stems[place]
        if word not in one.words and any(word in o.words for o in others):
            found[f"{broad}|other named-{min(distance, 2)}"] = 1.0
            break
    for place in after[:1]:
        word = scene.stems[place]
        if word not in one.words and any(word in o.words for o in others):
            found[f"{broad}|other named+"] = 1.0
    if after and candidate.kind in ("number", "numeral", "counted"):
        behind = scene.stems[after[0]]
        found[f"counts said={behind in one.said}|{one.role}"] = 1.0
        found[f"counts own={behind in scene.tool.own}|{one.role}"] = 1.0
        plural = scene.low[after[0]].endswith("s")
        found[f"counts plural={plural}|{one.role}"] = 1.0
        things = [
            p for p in after if scene.low[p].endswith("s") or scene.stems[p] in scene.tool.own
        ]
        if things:
            thing = scene.stems[things[0]]
            found[f"thing own={thing in scene.tool.own}|{one.role}"] = 1.0
            found[f"thing said={thing in one.said}|{one.role}"] = 1.0
            found[f"thing said={thing in one.said}|own={thing in scene.tool.own}"] = 1.0
            found[f"thing named={thing in one.words}"] = 1.0
    own = {scene.stems[p] for p in before[:3]}
    found[f"own near={bool(own & scene.tool.own)}|{one.role}"] = 1.0
    beside = {scene.stems[p] for p in (*before[:1], *after[:1])}
    for label, known in (("name", one.words), ("said", one.said), ("own", scene.tool.own)):
        if beside & known:
            found[f"beside {label}"] = 1.0
            found[f"beside {label}|{broad}"] = 1.0


def _shape(found: dict[str, float], one: Input, candidate: Candidate, scene: Scene) -> None:
    value = candidate.value
    kind = candidate.kind
    if isinstance(value, str):
        parts = value.split()
        found[f"{kind}|words={min(len(parts), 5)}"] = 1.0
        inside = [stem(p.lower().strip(".,'\"")) for p in parts]
        own = sum(w in scene.tool.own for w in inside) / max(1, len(inside))
        if own:
            found[f"{kind}|own words"] = own
            found[f"all own words|{one.role}"] = float(own == 1.0)
        if any(w in one.words for w in inside):
            found[f"{kind}|names itself"] = 1.0
            found["names itself"] = 1.0
        hit = sum(w in one.said for w in inside) / max(1, len(inside))
        if hit:
            found[f"{kind}|in description"] = hit
        low = value.lower()
        if any(low == e.lower() for e in one.examples):
            found["is example"] = 1.0
        if one.examples:
            shape = _outline(value)
            if any(_outline(e) == shape for e in one.examples):
                found["outline of example"] = 1.0
                found[f"{kind}|outline of example"] = 1.0
        if candidate.end >= len(scene.request.rstrip(" .?!")):
            found[f"{kind}|at the end"] = 1.0
        if kind in ("name", "region"):
            found[f"{kind}|wants region={one.region}"] = 1.0
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found[f"{one.role}|size={len(str(int(abs(value))))}"] = 1.0
        if 1900 <= value <= 2100:
            found[f"{one.role}|year like"] = 1.0
            found[f"year like|named={'year' in one.name.lower()}"] = 1.0
        if value != int(value):
            found[f"{one.type}|has point"] = 1.0
    if one.default is not NO_DEFAULT and value == one.default:
        found["is default"] = 1.0
    if candidate.quoted:
        found[f"quoted|{one.type}"] = 1.0
        found[f"quoted|{one.role}"] = 1.0


def _unit(found: dict[str, float], one: Input, candidate: Candidate) -> None:
    unit = stem(candidate.unit)
    if candidate.kind in ("duration", "size"):
        exact = unit in one.words
        found[f"exact unit={exact}"] = 1.0
        found[f"exact unit={exact}|timeout={'timeout' in one.name or 'interval' in one.name}"] = 1.0
    match = unit in one.words or unit in one.said
    found[f"unit={match}|{candidate.kind}"] = 1.0
    found[f"unit={match}|{one.role}"] = 1.0
    if candidate.kind == "assign":
        found[f"assigned={candidate.unit == one.name.lower()}"] = 1.0


def _outline(text: str) -> str:
    marks = []
    for letter in text[:24]:
        mark = (
            "9"
            if letter.isdigit()
            else "A"
            if letter.isupper()
            else "a"
            if letter.islower()
            else letter
        )
        if not marks or marks[-1] != mark:
            marks.append(mark)
    return "".join(marks)


def _broad(kind: str) -> str:
    if kind in (
        "number",
        "numeral",
        "counted",
        "money",
        "percent",
        "port",
        "prefix",
        "ordinal",
        "assign",
    ):
        return "number"
    if kind in ("name", "region", "phrase", "part", "quoted", "identifier", "named", "numbered"):
        return "text"
    return kind
