"""Matrix tools: statistics and pictures."""

import json
import struct
import sys
import zlib

import pytest


def pixels(image):
    """(width, height, rows of RGB bytes) of a PNG without filters, checksums checked."""
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    position, data, size = 8, b"", (0, 0)
    while position < len(image):
        length, kind = struct.unpack(">I4s", image[position : position + 8])
        body = image[position + 8 : position + 8 + length]
        (crc,) = struct.unpack(">I", image[position + 8 + length : position + 12 + length])
        assert crc == zlib.crc32(kind + body)
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        data += body if kind == b"IDAT" else b""
        position += 12 + length
    raw, width = zlib.decompress(data), size[0] * 3 + 1
    return *size, [raw[start + 1 : start + width] for start in range(0, len(raw), width)]


def test_summarize_matrix_computes_statistics_and_correlations(load):
    result = load("analysis/summarise/summarize_matrix").run([[1, 8], [2, 6], [3, 4], [4, 2]])
    first = result["rows"][0]
    assert first["mean"] == 2.5
    assert first["stdev"] == pytest.approx(1.2909944487358056)
    assert (first["min"], first["median"], first["max"]) == (1.0, 2.5, 4.0)
    assert result["summary"]["correlations"] == [[1.0, -1.0], [-1.0, 1.0]]
    assert result["summary"]["columns"] == ["c0", "c1"]


def test_summarize_matrix_reads_files_with_and_without_a_header(load, tmp_path):
    tool = load("analysis/summarise/summarize_matrix")
    (tmp_path / "a.csv").write_text("cpu;mem\n1;2\nNA;4\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text("1\t2\n3\t4\n", encoding="utf-8")
    (tmp_path / "c.json").write_text('[{"x": 1}, {"x": null}]', encoding="utf-8")
    named = tool.run(str(tmp_path / "a.csv"))
    assert [row["column"] for row in named["rows"]] == ["cpu", "mem"]
    assert named["rows"][0]["missing"] == 1
    assert tool.run(str(tmp_path / "b.tsv"))["summary"]["shape"] == [2, 2]
    assert tool.run(str(tmp_path / "c.json"))["rows"][0]["missing"] == 1


def test_summarize_matrix_gives_null_where_a_figure_does_not_exist(load):
    result = load("analysis/summarise/summarize_matrix").run([[5, None], [5, None]])
    assert result["summary"]["correlations"][0][0] is None  # constant
    assert result["rows"][1]["mean"] is None
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [([], "no rows"), ([[1, 2], [3]], "row 1 has 1 values"), ([["x"]], "'x' is not a number")],
)
def test_summarize_matrix_refuses_what_is_no_matrix(load, matrix, message):
    with pytest.raises(ValueError, match=message):
        load("analysis/summarise/summarize_matrix").run(matrix)


def test_plot_matrix_draws_low_blue_high_red_and_missing_grey(load, tmp_path):
    target = tmp_path / "heat.png"
    result = load("analysis/visualise/plot_matrix").run(
        {"matrix": [[0, 10], [None, 5]]}, str(target), renderer="builtin"
    )
    width, height, rows = pixels(target.read_bytes())
    assert (width, height) == (64, 64)
    assert rows[0][:3] == bytes((33, 102, 172))
    assert rows[0][32 * 3 : 33 * 3] == bytes((178, 24, 43))
    assert rows[40][:3] == bytes((190, 190, 190))
    assert result == {"figure_path": str(target), "bytes": target.stat().st_size} | {
        "renderer": "builtin",
        "written": True,
    }


def test_plot_matrix_takes_what_summarize_matrix_gives(load, tmp_path):
    summary = load("analysis/summarise/summarize_matrix").run([[1, 2], [3, 5], [4, 4]])["summary"]
    plot = load("analysis/visualise/plot_matrix")
    first = plot.run(summary, str(tmp_path / "a.png"), renderer="builtin")
    second = plot.run(summary, str(tmp_path / "b.png"), renderer="builtin")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert first["bytes"] == second["bytes"]


@pytest.mark.seconds
def test_plot_matrix_labels_its_axes_with_matplotlib(load, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    target = tmp_path / "labelled.png"
    result = load("analysis/visualise/plot_matrix").run(
        {"columns": ["cpu", "mem"], "correlations": [[1, None], [None, 1]]}, str(target)
    )
    assert result["renderer"] == "matplotlib"
    assert target.read_bytes().startswith(b"\x89PNG")


def test_plot_matrix_names_the_extra_when_matplotlib_is_missing(load, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    tool = load("analysis/visualise/plot_matrix")
    with pytest.raises(RuntimeError, match=r"the extra plot to Pulsus .`pulsus doctor`"):
        tool.run({"matrix": [[1]]}, str(tmp_path / "x.png"), renderer="matplotlib")
    monkeypatch.setattr(tool.importlib.util, "find_spec", lambda name: None)
    assert tool.run({"matrix": [[1]]}, str(tmp_path / "x.png"))["renderer"] == "builtin"


def test_plot_matrix_writes_nothing_in_a_dry_run_and_replaces_nothing_unasked(load, tmp_path):
    tool = load("analysis/visualise/plot_matrix")
    target = tmp_path / "x.png"
    tool.run({"matrix": [[1]]}, str(target), "builtin", dry_run=True)
    assert not target.exists()
    target.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        tool.run({"matrix": [[1]]}, str(target), "builtin")
    assert target.read_bytes() == b"mine"
    with pytest.raises(ValueError, match="nothing to plot"):
        tool.run({"other": 1}, str(tmp_path / "y.png"))
