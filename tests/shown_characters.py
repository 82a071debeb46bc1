"""Texts with characters that hide or deceive, and how a page and a terminal show them."""

from __future__ import annotations

import random

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
    ("\ufb01nd /srv/\u217donfig", "\\u{fb01}nd /srv/\\u{217d}onfig"),
    ("rm a\u0338b\u0336\u0336", "rm a\\u{338}b\\u{336}\\u{336}"),
    ("x \u0660\u096f \u2025/y", "x \\u{660}\\u{96f} \\u{2025}/y"),
    ("x \ufe63rf y \ufe65 z", "x \\u{fe63}rf y \\u{fe65} z"),
    ("\u0261it pu\u017fh sl\u0131m", "\\u{261}it pu\\u{17f}h sl\\u{131}m"),
    ("rm \u212aa", "rm \\u{212a}a"),
    ("a\u29f8b c\u0589d", "a\\u{29f8}b c\\u{589}d"),
    ("\u0928\u093f \u0e01\u0e34", "\u0928\u093f \u0e01\u0e34"),
    ("e\u0301 x\u0338", "e\\u{301} x\\u{338}"),
    ("\u0261et \u0251", "\\u{261}et \\u{251}"),
    ("a\u2160 1\u0663", "a\\u{2160} 1\\u{663}"),
    ("\U0001fbf1\u29f8etc", "\\u{1fbf1}\\u{29f8}etc"),
]

COMMANDS = [
    ("ls -l", "ls -l"),
    ("touch A\ntouch B", "touch A ⏎ touch B"),
    ("touch A" + "\n" * 60 + "touch B", "touch A ⏎×60 touch B"),
    ("touch A;" + " " * 5000 + "touch B", "touch A; ␣×5000 touch B"),
    ("touch A;" + "\t" * 9 + "touch B", "touch A; ␣×9 touch B"),
    ("echo ⏎ ␣", "echo \\u{23ce} \\u{2423}"),
    ("touch A\rtouch B", "touch A\\u{d}touch B"),
    ("\n", " ⏎ "),
]
"""Commands, and how they are shown on one line."""


def hostile_texts(count, seed=20261128):
    """Return random texts of characters that hide, deceive, break lines or are plain."""
    chosen = random.Random(seed)
    signs = [*"ab Z09-/;'\"\\", *"\n\t\r\x0b\x0c\x1c\x85\u2028\u2029", "\n" * 3, " " * 12]
    signs += [char for text, _ in SHOWN for char in text]
    signs += [*"⏎␣×éßøªºµ²½№ⅣℓKʰɡɑı\u0301\u0338٣५𝟙🄰😀\ud83d\ude00\ud800é–“”"]
    return ["".join(chosen.choices(signs, k=chosen.randint(0, 40))) for _ in range(count)]


def all_characters():
    """Return every character of the planes that have any, and the edges of the private planes."""
    planes = (range(0x40000), range(0xE0000, 0xF0010), range(0x10FFF0, 0x110000))
    return [chr(n) for plane in planes for n in plane]
