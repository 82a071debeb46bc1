"""The contract of a tool says which columns its rows have, of which type, with which values."""

from pulsus.core.arguments.rows.columns import read_columns
from pulsus.core.types import Example
from tests.unit.core.arguments.rows.shipped_columns import columns_of


def example(*rows):
    return Example({}, expected={"rows": list(rows)}, has_expected=True)


def column(found, name):
    return next(one for one in found if one.name == name)


def test_a_column_has_the_type_that_the_examples_show():
    found = read_columns(
        "rows",
        "One a key: `account`, `weak`, `bits`, `options`.",
        [example({"account": "ada", "weak": False, "bits": 256, "options": []})],
    )
    assert [one.kind for one in found] == ["text", "flag", "number", "list"]


def test_a_placeholder_in_an_example_says_nothing_about_the_type():
    assert column(read_columns("rows", "`mode`.", [example({"mode": "..."})]), "mode").kind == (
        "unknown"
    )


def test_names_before_the_colon_are_rows_and_no_columns():
    names = [one.name for one in read_columns("rows", "One for `ram` and `swap`: `kind`.", ())]
    assert names == ["kind"]


def test_values_in_brackets_belong_to_the_column_before_them():
    found = columns_of("listening_ports")
    assert column(found, "reach").values == ("everywhere", "this machine", "one address")
    assert column(columns_of("env_diff"), "status").values == (
        "missing",
        "extra",
        "different",
        "emptied",
    )


def test_a_list_of_kinds_in_brackets_is_no_list_of_values():
    assert column(columns_of("failed_logins"), "source").values == ()
    assert column(columns_of("cron_jobs"), "source").values == ()


def test_a_unit_comes_from_the_name_and_a_rate_has_none():
    assert column(columns_of("backup_freshness"), "age_hours").unit == ("duration", 3600.0)
    assert column(columns_of("metric_delta"), "per_second").unit == ("", 1.0)
    assert column(columns_of("env_diff"), "second_line").unit == ("", 1.0)


def test_a_name_that_is_only_the_end_of_the_examples_columns_is_no_column():
    names = {one.name for one in columns_of("interface_counters")}
    assert "rx_dropped" in names
    assert "dropped" not in names
