"""The picture shows each host's load, and a hostile name stays text."""

from xml.etree import ElementTree

from pulsus.placement.load_picture import load_lines, load_svg

SVG = "{http://www.w3.org/2000/svg}"


def bars(svg):
    rects = ElementTree.fromstring(svg).iter(f"{SVG}rect")
    return [(float(each.get("width", 0)), each.get("fill")) for each in rects][1:]


def test_each_host_has_a_bar_before_and_one_after_as_long_as_its_share():
    assert bars(load_svg({"pve1": (0.5, 0.25)})) == [(200.0, "#9aa0a6"), (100.0, "#1a73e8")]


def test_a_bar_of_an_overloaded_host_is_red_and_does_not_leave_the_picture():
    assert bars(load_svg({"pve1": (1.7, 1.0)})) == [(400.0, "#c5221f"), (400.0, "#1a73e8")]


def test_a_name_cannot_add_markup_and_a_long_one_stays_whole_in_its_tooltip():
    name = "<script>alert(1)</script>"
    root = ElementTree.fromstring(load_svg({name: (0.1, 0.2)}))
    assert not list(root.iter(f"{SVG}script"))
    assert root.findtext(f"{SVG}g/{SVG}title", "").startswith(f"{name}: 10.0%")
    assert root.findtext(f"{SVG}g/{SVG}text") == f"{name[:17]}…"


def test_the_lines_of_the_terminal_stand_below_each_other():
    assert list(load_lines({"a": (0.0, 1.0), "pve10": (0.5, 2.0)})) == [
        "a      ░░░░░░░░░░░░░░░░░░░░   0.0%  ████████████████████ 100.0%",
        "pve10  ██████████░░░░░░░░░░  50.0%  ████████████████████ 200.0%",
    ]


def test_a_picture_of_no_hosts_is_still_a_picture():
    assert bars(load_svg({})) == []
    assert list(load_lines({})) == []
