"""Pictures of a plan: its steps are all there, and no label leaves its place."""

import re
from xml.etree import ElementTree as ET

import pytest

from pulsus.cli.render.plan_views.mermaid_graph import escape_label, mermaid_graph
from pulsus.cli.render.plan_views.svg_graph import svg_graph
from tests.saved_plans import HOSTILE, saved, step
from tests.unit.cli.render.plan_views.test_saved_plan_text import page

SVG = "{http://www.w3.org/2000/svg}"
NODE = re.compile(r'  s\d+(\["[^"]*"\]|\[/"[^"]*"/\]):::(read|write)')
EDGE = re.compile(r'  s\d+ (-->|-\.->)\|"[^"]*"\| s\d+')


def branches():
    """Two reads side by side, a read that joins them, a write, and a read that spans rows."""
    return saved(
        step("left", outputs={"rows": "rows"}),
        step("right"),
        step("join", inputs={"table": "{{ steps.left.outputs.rows }}"}, needs=["right"]),
        step("end", "d/a/writer", inputs={"rows": "{{ steps.left.outputs.rows }}"}),
        writes=["end"],
    )


def test_the_flowchart_shows_branches_data_order_and_writes():
    assert mermaid_graph(page(branches())).splitlines()[1:9] == [
        '  s1["left<br/>d/a/reader#64;1.0.0"]:::read',
        '  s2["right<br/>d/a/reader#64;1.0.0"]:::read',
        '  s3["join<br/>d/a/reader#64;1.0.0"]:::read',
        '  s4[/"end<br/>d/a/writer#64;1.0.0<br/>WRITES"/]:::write',
        '  s1 -->|"rows #8594; table"| s3',
        '  s2 -.->|"needs"| s3',
        '  s1 -->|"rows"| s4',
        '  s3 -.->|"then"| s4',
    ]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_name_breaks_out_of_a_flowchart(value):
    plan = saved(
        step("a", version=value, outputs={"o": value}),
        step("b", version=value, inputs={"x": "{{ steps.a.outputs.o }}"}),
        writes=["b"],
    )
    lines = mermaid_graph(page(plan)).splitlines()
    assert all(NODE.fullmatch(line) for line in lines[1:3])
    assert EDGE.fullmatch(lines[3])
    assert len(lines) == 6
    assert not set(escape_label(value)) & set("\"'`|<>[]{}()%:@\\\n&")


def boxes(svg):
    """The boxes of steps: x, y, width and height."""
    found = [r for r in svg.iter(f"{SVG}rect") if r.get("rx") == "6"]
    return [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in found]


def test_boxes_of_a_picture_do_not_overlap_and_lie_inside_it():
    svg = ET.fromstring(svg_graph(page(branches())))
    placed = boxes(svg)
    assert len(placed) == 4
    for number, (x, y, wide, high) in enumerate(placed):
        assert x >= 0
        assert x + wide <= float(svg.attrib["width"])
        assert y + high <= float(svg.attrib["height"])
        for other_x, other_y, other_wide, other_high in placed[:number]:
            apart = x + wide <= other_x or other_x + other_wide <= x
            assert apart or y + high <= other_y or other_y + other_high <= y


def test_a_line_over_two_rows_goes_round_the_box_between():
    svg = ET.fromstring(svg_graph(page(branches())))
    box = boxes(svg)[2]
    lines = [p.get("d", "") for p in svg.findall(f"{SVG}path")]
    (long,) = [line for line in lines if line.count("C") > 1]
    x, y, wide, high = box
    points = [tuple(map(float, found)) for found in re.findall(r"([\d.]+),([\d.]+)", long)]
    assert [p for p in points if x < p[0] < x + wide and y < p[1] < y + high] == []


def test_lines_that_only_order_steps_are_dashed():
    svg = ET.fromstring(svg_graph(page(branches())))
    dashed = [bool(path.get("stroke-dasharray")) for path in svg.findall(f"{SVG}path")]
    assert dashed == [False, True, False, True]


@pytest.mark.parametrize("value", HOSTILE)
def test_no_name_adds_an_element_to_a_picture(value):
    def elements(text):
        plan = saved(
            step("a", version=text, outputs={"o": text}),
            step("b", inputs={"x": "{{ steps.a.outputs.o }}"}),
            writes=["b"],
        )
        return [each.tag for each in ET.fromstring(svg_graph(page(plan, file=text))).iter()]

    assert elements(value) == elements("x")


def test_a_picture_loads_nothing_and_runs_nothing():
    text = svg_graph(page(branches()))
    assert not re.search(r"script|href|url\((?!#)|@import|font-face|foreignObject|\son\w+=", text)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#0d1117"])
def test_lines_are_seen_on_white_and_on_dark_pages(ground):
    svg = ET.fromstring(svg_graph(page(branches())))
    colours = {path.get("stroke") for path in svg.findall(f"{SVG}path")}
    assert min(contrast(each, ground) for each in colours) >= 3


def test_text_is_read_on_its_box():
    svg = ET.fromstring(svg_graph(page(branches())))
    fills = {rect.get("fill") for rect in svg.iter(f"{SVG}rect")}
    texts = {text.get("fill") for text in svg.iter(f"{SVG}text")}
    assert min(contrast(a, b) for a in fills for b in texts) >= 7
