"""Does an answer in words say what is true? Each check gives a function of the answer's text."""

import re

_SIZES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s*(?:(k|m|g|t)(?:i?b|i|ilobytes?|egabytes?|igabytes?)?|bytes?|b)?(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_PERCENT = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s*(?:%|percent)", re.IGNORECASE)
_PART = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)\s*(days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s)\b",
    re.IGNORECASE,
)
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def numbers(text):
    """Return the numbers in the text, those in words up to ten among them."""
    lower = text.lower()
    said = [float(n) for n, word in enumerate(_WORDS) if re.search(rf"\b{word}\b", lower)]
    return [float(each.replace(",", "")) for each in _NUMBER.findall(text)] + said


def says_size(size, tolerance=0.03):
    """A size in bytes, in any unit. A unit may be meant in powers of 1000 or of 1024."""

    def check(text):
        for number, unit in _SIZE.findall(text):
            value, power = float(number.replace(",", "")), _SIZES[unit.lower()]
            for base in (1000, 1024):
                if abs(value * base**power - size) <= tolerance * size:
                    return True
        return False

    return check


def says_number(number, slack=0.0):
    """A number, at most `slack` away."""
    return lambda text: any(abs(each - number) <= slack for each in numbers(text))


def says_percent(number, slack):
    """A percentage, at most `slack` points away."""

    def check(text):
        found = [float(each.replace(",", "")) for each in _PERCENT.findall(text)]
        return any(abs(each - number) <= slack for each in found)

    return check


def says_duration(seconds, slack):
    """A duration, as a sum of its parts in any units, or as seconds."""

    def check(text):
        parts = [float(n) * _SECONDS[unit[0].lower()] for n, unit in _PART.findall(text)]
        sums = [sum(parts[a:b]) for a in range(len(parts)) for b in range(a + 1, len(parts) + 1)]
        return any(abs(each - seconds) <= slack for each in sums)

    return check


def says_all(*words):
    """All of these words, in any order and case."""
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE) for word in words]
    return lambda text: all(pattern.search(text) for pattern in patterns)


def says_any(*words):
    """One of these words."""
    return lambda text: any(says_all(word)(text) for word in words)


def says_only(words, of):
    """One of `words`, and before it no other word of `of`."""

    def place(word, text):
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
        return found.start() if found else len(text)

    def check(text):
        first = min((place(each, text) for each in words), default=len(text))
        others = min((place(each, text) for each in of if each not in words), default=len(text))
        return first < len(text) and first <= others

    return check


def either(*checks):
    """One of these checks."""
    return lambda text: any(check(text) for check in checks)


def neither(*checks):
    """None of these checks."""
    return lambda text: not any(check(text) for check in checks)


def both(*checks):
    """All of these checks."""
    return lambda text: all(check(text) for check in checks)
