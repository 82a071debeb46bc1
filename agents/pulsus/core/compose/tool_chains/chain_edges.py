"""Decide which step of a plan feeds which later step (spec §6). Pure.

Only `pulsus compose-eval` uses it. A route's outputs feed inputs by `core/compose/plans/wiring.py`.

Each pair of steps is rated by names ("does an output fit an input?"), by words ("the encrypted
data", "it") and by room: has the clause fewer values than the tool has inputs?
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pulsus.core.compose.tool_chains.chain_model import LinearModel, Matrix
from pulsus.core.compose.tool_chains.clause_alignment import align_steps
from pulsus.core.compose.tool_chains.past_plans import Edge, PairCounts
from pulsus.core.compose.tool_chains.tool_evidence import RequestScores
from pulsus.core.compose.tool_chains.tool_signature import EQUAL, SignatureTable, Words
from pulsus.core.compose.tool_chains.verb_clauses import VALUE
from pulsus.core.text.tokens import stem, stems
from pulsus.late_pattern import late_pattern

NAMES = (
    *("output_named", "any_output_named", "words_shared", "any_word_shared", "impossible"),
    *("output_named_for_text", "outputs_mentioned_for_text", "link", "link_equal", "link_key"),
    *("family", "same_clause", "family_in_clause", "next", "distance", "pronoun"),
    *("pronoun_next", "mentioned", "any_mentioned", "outputs_mentioned", "any_output_mentioned"),
    *("definite", "values", "inputs", "spare_values", "enough_values", "consumer_no_inputs"),
    *("producer_no_inputs", "text_inputs", "open_text_inputs", "text_inputs_next"),
    *("names_overlap", "one_output", "other_link", "link_is_best", "steps", "two_steps", "alike"),
    *("open_inputs", "open_inputs_next", "one_output_next", "mentioned_most", "mentioned_lead"),
    *("mentioned_most_next", "clauses", "last", "open_share", "mentioned_for_text"),
    *("best_by_key", "link_without_pronoun"),
)
PAST_NAMES = (
    *("past_rate", "past_both", "past_rate_centred", "past_both_often", "past_never_fed"),
    *("past_other_rate", "past_consumer_fed", "past_producer_feeds", "past_consumer_free"),
    "past_rate_is_best",
)
"""Further columns with past plans."""

_PRONOUNS = frozenset(
    {
        *("it", "its", "them", "they", "their", "that", "this", "these", "those"),
        *("result", "results", "output", "value", "both", "same"),
    }
)
_TEXT_INPUTS = Words(stem(word) for word in ("data", "text", "amount", "number", "message"))
"""Inputs that take the result of nearly any tool."""
_NAME = late_pattern(r"(?<!^)(?<![.] )\b[A-Z][a-z]+")
_THE = late_pattern(r"the (?:\w+ )?(\w+)")
_LEAST = 0.05
"""A plan of several steps has an edge: the most probable one is taken from this p on."""


class StepPairs:
    """The pairs of steps of one plan. `steps` are places in the table, in order."""

    def __init__(
        self,
        request: RequestScores,
        steps: Sequence[int],
        table: SignatureTable,
        past: PairCounts | None = None,
    ) -> None:
        self.steps, self.table, self.past = steps, table, past
        self.pairs: list[Edge] = [(a, b) for b in range(len(steps)) for a in range(b)]
        self._request = request
        self._clause = align_steps(request, [table.tools[step].id for step in steps])
        spans = request.spans
        self._texts = [spans.clause_text(n) if spans.clauses else spans.text for n in self._clause]
        self._words = [Words(stems(text)) for text in self._texts]

    def columns(self) -> Matrix:
        """Return one row of `NAMES` for each pair, and of `PAST_NAMES` with past plans."""
        rows = []
        for first, second in self.pairs:
            row = [*self._by_mention(first, second), *self._by_names(first, second)]
            rows.append(row + (self._by_past(first, second, self.past) if self.past else []))
        width = len(NAMES) + (len(PAST_NAMES) if self.past else 0)
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)

    def choose(self, model: LinearModel) -> frozenset[Edge]:
        """Return the edges of at least p 0.5, or else the most probable one.

        A tool without inputs is fed by none, and one without outputs feeds none.
        """
        tools = [self.table.tools[step] for step in self.steps]
        possible = [
            (p, edge)
            for p, edge in zip(model.probabilities(self.columns()), self.pairs, strict=True)
            if tools[edge[0]].outputs and tools[edge[1]].inputs
        ]
        likely = frozenset(edge for p, edge in possible if p > 0.5)
        if likely or not possible:
            return likely
        p, edge = max(possible, key=lambda row: row[0])
        return frozenset({edge}) if p > _LEAST else frozenset()

    def _mention(self, first: int, second: int) -> float:
        """Return the share of the later clause that is about the earlier tool's result."""
        one, two = (self.table.tools[self.steps[n]] for n in (first, second))
        rest = self._words[second] - two.own_words
        about = one.all_output_words | (one.name_words - two.name_words)
        return self.table.mass(about & rest) / max(1.0, self.table.mass(rest))

    def _by_mention(self, first: int, second: int) -> list[float]:
        table = self.table
        one, two = (table.tools[self.steps[n]] for n in (first, second))
        own, said = two.own_words, self._words[second]
        same = self._clause[first] == self._clause[second]
        named = max(
            (table.share(w - own, w) for w in one.output_words if w and w <= said and w - own),
            default=0.0,
        )
        shared = 0.0 if same else table.share(self._words[first], said - own)
        texts = sum(bool(words & _TEXT_INPUTS) for words in two.input_words)
        mentioned = table.share(said - own, one.all_output_words)
        return [
            *(named, named > 0, shared, shared > 0, not two.inputs or not one.outputs),
            *(float(named > 0 and texts > 0), mentioned * (texts > 0)),
        ]

    def _by_names(self, first: int, second: int) -> list[float]:
        table, steps = self.table, self.steps
        one, two = (table.tools[steps[n]] for n in (first, second))
        link = table.link(steps[second], steps[first])
        text, said = self._texts[second], self._words[second]
        same = self._clause[first] == self._clause[second]
        close = second - first == 1
        raw = set(re.findall(r"[a-z]+", text.lower()))
        pronoun = not raw.isdisjoint(_PRONOUNS)
        mention = self._mention(first, second)
        outputs = table.share(said - two.own_words, one.all_output_words)
        definite = {stem(word) for word in _THE.findall(text.lower())}
        values = text.count(VALUE) + len(_NAME.findall(text))
        inputs = len(two.inputs)
        texts = [words for words in two.input_words if words & _TEXT_INPUTS]
        open_texts = sum(not words & said for words in texts)
        unsaid = sum(bool(words) and not words & said for words in two.input_words)
        overlap = max(
            (
                len(given & wanted) / len(given | wanted)
                for given in one.output_words
                for wanted in two.input_words
                if given and wanted
            ),
            default=0.0,
        )
        others = [n for n in range(second) if n != first]
        rival = max((table.link(steps[second], steps[n]).strength for n in others), default=0.0)
        most = max((self._mention(n, second) for n in others), default=0.0)
        strength, key = link.strength, link.strength > 0 and link.by_key
        single = len(one.outputs) == 1
        return [
            *(strength, strength == EQUAL, key, link.family, same, link.family and same, close),
            *(second - first, pronoun, pronoun and close, mention, mention > 0, outputs),
            *(outputs > 0, bool(definite & (one.all_output_words | one.name_words))),
            *(values, inputs, values - inputs, values >= inputs, inputs == 0, not one.inputs),
            *(len(texts), open_texts, bool(texts) and close, overlap, single, rival),
            *(strength > rival, len(steps), len(steps) == 2),
            table.likeness(steps[second], steps[first]),
            *(unsaid, unsaid > 0 and close, single and close, mention > most, mention - most),
            *(mention > most and close, len(self._request.clauses), second == len(steps) - 1),
            *(unsaid / max(1, inputs), mention > 0 and bool(texts), key and strength > rival),
            strength * (not pronoun) * close,
        ]

    def _by_past(self, first: int, second: int, past: PairCounts) -> list[float]:
        one, two = self.steps[first], self.steps[second]
        both, rate = past.both.get((one, two), 0), past.rate(one, two)
        others = (past.rate(self.steps[n], two) for n in range(second) if n != first)
        rival = max(others, default=0.0)
        count = past.plans_with.get(two, 0)
        fed = sum(past.feeding.get(two, {}).values())
        return [
            *(rate, both > 0, (rate - 0.5) * (both > 0), both > 1),
            *(past.fed.get((one, two), 0) == 0 and both >= 2, rival, fed / (count + 0.5)),
            past.feeds.get(one, 0) / (past.plans_with.get(one, 0) + 0.5),
            *(count > 0 and fed == 0, rate > rival),
        ]
