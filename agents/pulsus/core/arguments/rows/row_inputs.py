"""Tell from a contract which input of a row tool is the column, the operator, the count. Pure.

`row_filler.py` fills them.

No name of a tool is known here. A filter has an input that offers operators. A sort has a column to
sort by. A table has a list of columns, or a title.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.rows.comparisons import count_operators
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import words
from pulsus.core.types import ArgSpec
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

_LISTED = late_pattern(r"[`'\"]([^`'\"\s]{1,20})[`'\"]")
_LEAST_OPERATORS = 3
_FIELD = word_set("field column key by attribute property")
_COLUMNS = word_set("columns fields keys")
_TITLE = word_set("title heading headline caption")
_DOWNWARDS = word_set("descending desc")
_UPWARDS = word_set("ascending asc")


@dataclass(frozen=True, slots=True)
class RowInputs:
    """The names of a tool's inputs by what they mean; empty for one that it does not have.

    A filter has `field`, `op` (with the operators that it offers) and `value`. A sort has `by`, and
    may have `count` and a direction, where `descending` is what True means.
    """

    field: str = ""
    op: str = ""
    operators: tuple[str, ...] = ()
    value: str = ""
    by: str = ""
    count: str = ""
    direction: str = ""
    descending: bool = True
    columns: str = ""
    title: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Return the names of all inputs that this package fills."""
        named = (self.field, self.op, self.value, self.by, self.count)
        return frozenset((*named, self.direction, self.columns, self.title)) - {""}


def read_row_inputs(inputs: Sequence[Input], args: Sequence[ArgSpec]) -> RowInputs:
    """Return what the inputs mean. `args` are the same arguments, with their type hints."""
    texts = [one for one in inputs if one.type == "string"]
    fields = [one for one in texts if not _FIELD.isdisjoint(words(one.name))]
    columns = next((one.name for one in inputs if _is_list_of_columns(one)), "")
    title = next((one.name for one in texts if not _TITLE.isdisjoint(words(one.name))), "")
    operators = next((one for one in texts if _offers_operators(one)), None)
    if operators is not None:
        field = next((one for one in fields if one is not operators), None)
        value = next((a.name for a in args if a.name in ("value", "values", "than")), "")
        if field is not None and value:
            offered = _offered(operators)
            return RowInputs(
                field.name, operators.name, offered, value, columns=columns, title=title
            )
    elif fields:
        counts = [one.name for one in inputs if one.role == "count" and one.type == "integer"]
        turns = [one for one in inputs if one.type == "boolean" and _direction_of(one) is not None]
        return RowInputs(
            by=fields[0].name,
            count=counts[0] if len(counts) == 1 else "",
            direction=turns[0].name if turns else "",
            descending=bool(_direction_of(turns[0])) if turns else True,
            columns=columns,
            title=title,
        )
    return RowInputs(columns=columns, title=title)


def _offered(one: Input) -> tuple[str, ...]:
    return tuple(str(choice) for choice in one.choices) or tuple(_LISTED.findall(one.description))


def _offers_operators(one: Input) -> bool:
    return count_operators(_offered(one)) >= _LEAST_OPERATORS


def _is_list_of_columns(one: Input) -> bool:
    named = not _COLUMNS.isdisjoint(words(one.name))
    return one.type == "array" and one.item == "string" and named


def _direction_of(one: Input) -> bool | None:
    said = words(one.name)
    if not _DOWNWARDS.isdisjoint(said):
        return True
    return False if not _UPWARDS.isdisjoint(said) else None
