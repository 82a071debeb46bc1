"""Replace the parts of a command's output that differ from run to run. Pure."""

import re

_RULES = (
    (r"run-\d{8}-\d{6}-[0-9a-f]{6}", "run-ID"),
    (r"apr-\d{8}-\d{6}-[0-9a-f]{6}", "apr-ID"),
    (r"\bapr-(?!1f2e3d4c5b6a7988)[0-9a-f]{16}\b", "apr-ID"),  # that one is an example
    (r"\.\d{8}T\d{6}Z-[0-9a-f]{12}\.bak", ".STAMP.bak"),
    (r"route([-_])[0-9a-f]{8}\b", r"route\1ID"),
    (r"rev-\d{8}-", "rev-DATE-"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+\d\d:\d\d|Z)", "TIME"),
    (r"\b(since|until) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", r"\1 TIME"),
    (r"\b\d{4}-\d\d-\d\d\b", "DATE"),
    (r'(sha256: )"([0-9a-f]{64})"', r"\1\2"),  # YAML quotes a hash that looks like a number
    (r"\b[0-9a-f]{64}\b", "SHA256"),
    (r"((?:@[\d.]+|\(not promoted\))  )[0-9a-f]{8}\b", r"\1PIN"),
    (r"=\d+\.\d+s", "=N.Ns"),
    (r" +\d+ ms", " N ms"),
    (r'("(?:\w+_)?(?:ms|seconds|bytes)(?:_p\d+)?"): [\d.]+', r"\1: N"),
    (r' time="[\d.]+"', ' time="N"'),
    (r'("name": "Pulsus",\s+"version"): "[^"]*"', r'\1: "VERSION"'),
    (r"(query_ms_p50 / p99 +)[\d.]+ / [\d.]+", r"\1N / N"),
    (r'"seq": \d+', '"seq": N'),
    (r"\(\d+ bytes\)", "(N bytes)"),
    (r"peak \d+ MiB", "peak N MiB"),
    (r"(pulsus[ _]v?)\d+\.\d+\.\d+\w*", r"\1VERSION"),
    (r"approved by [^)]+", "approved by USER"),
    (r"accepted by \S+ on", "accepted by USER on"),
    (r'"approved_by": "[^"]*"', '"approved_by": "USER"'),
    # So does which words matched, what a loser lost by, and what is asked.
    (r"(matched|lost|no match|taken as|p from): .*", r"\1: ..."),
    (r"(calibration: \w+).*", r"\1 ..."),
    (r"(Which tool do you mean\?) \([^)]*\)", r"\1 (...)"),
    # Scores move with the ranker; thresholds and weights are settings and do not.
    (r"(?<!τ=)(?<!τ )(?<!below )(?<!name=)(?<!doc=)(?<!history=)\b[01]\.\d\d+\b", "N.NN"),
    (r"(\(proof: \w+\)) — \d+\.\d+s", r"\1 — N.Ns"),
)
_MACHINE = (
    (r" {2,}", "  "),
    (r"\d+\.\d+\.\d+\w*", "V"),
    (r"bubblewrap [\s\S]*?\(version V\)", "SANDBOX (version V)"),
    (r"(ok|absent)(  (?:extra \w+|run confinement)  ).*(\n  \S.*)*", r"STATE\2FOUND"),
)


def normalise(text, project, *, machine=False):
    """`text` with ids, hashes, times, durations, scores and the project's path made the same.

    `machine` also hides versions and how the sandbox works here.
    """
    text = text.replace(str(project), "PROJECT")
    for pattern, instead in (*(_MACHINE if machine else ()), *_RULES):
        text = re.sub(pattern, instead, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
