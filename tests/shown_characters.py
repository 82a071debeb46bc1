"""Texts with characters that hide or deceive, and how a page and a terminal show them."""

SHOWN = [
    ("ls -l /srv\n\tx", "ls -l /srv\n\tx"),
    ("größer, naïve – “so”…", "größer, naïve – “so”…"),
    ("日本語 тест", "日本語 тест"),
    ("rm\u200b -rf", "rm\\u{200b} -rf"),
    ("a\u202egnp.exe", "a\\u{202e}gnp.exe"),
    ("a\u2066b\u2069", "a\\u{2066}b\\u{2069}"),
    ("\x1b[2Jx\x07\r", "\\u{1b}[2Jx\\u{7}\\u{d}"),
    ("x\x9b31m", "x\\u{9b}31m"),
    ("p\u0430ypal", "p\\u{430}ypal"),
    ("\u039fK", "\\u{39f}K"),
    ("rm\u00a0-rf\u3000x", "rm\\u{a0}-rf\\u{3000}x"),
    ("x\u2028y", "x\\u{2028}y"),
    ("\uff4c\uff53", "\\u{ff4c}\\u{ff53}"),
    ("\U0001d5cbm", "\\u{1d5cb}m"),
    ("x \u2212rf \u2010l", "x \\u{2212}rf \\u{2010}l"),
    ("a\u2044b", "a\\u{2044}b"),
    ("x\u3164y\u115fz\u2800", "x\\u{3164}y\\u{115f}z\\u{2800}"),
    ("tag\U000e0041", "tag\\u{e0041}"),
    ("\ufe0fx\ufeff", "\\u{fe0f}x\\u{feff}"),
    ("\ue000", "\\u{e000}"),
]
