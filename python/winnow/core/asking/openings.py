"""Where a choice may begin in a model's text, and what may still become such a place."""

from __future__ import annotations

import re

from winnow.core.asking.choices import UNSEEN

# The start of a line: where it is indented or in a list, and what may still become that.
_HEAD = r" {0,40}(?:(?:[-*+]|[0-9]{1,9}[.)]) {1,4}){0,9}"
LINE = re.compile(_HEAD)
LINE_SO_FAR = re.compile(_HEAD + r"(?:[-*+]|[0-9]{1,9}[.)]?)?")
# A fence that may hold a choice, and what may still become one. Words may follow the language,
# unless they say that it is an example.
_WORDS = r"(?:[ \t](?![^\n]*(?:example|sample))[^`\n]{0,99})?"
FENCE = re.compile(rf"(?i)```[ \t]{{0,9}}(?:jsonc?{_WORDS})?[ \t]{{0,9}}\r?(?=\n)")
FENCE_SO_FAR = re.compile(
    r"(?i)`{1,3}|```[ \t]{0,9}(?:j|js|jso|jsonc?(?:[ \t][^`\n]{0,99})?)?[ \t]{0,9}\r?"
)
# The same behind text, where backticks are code in a line unless a language or an object follows.
LATE_FENCE = re.compile(
    rf"(?i)```[ \t]{{0,9}}(?:jsonc?{_WORDS}[ \t]{{0,9}}\r?(?=\n)|\r?(?=\n[ \t\r\n]{{0,9}}\{{))"
)
LATE_FENCE_SO_FAR = re.compile(FENCE_SO_FAR.pattern + r"|```[ \t]{0,9}\r?\n[ \t\r\n]{0,9}")
# An object that begins with a string: braces in code seldom do.
_GAP = rf"(?:[ \t\r\n{UNSEEN}]|//[^\n]*\n|/\*[^*]*\*/)*"
OBJECT = re.compile(r"\{" + _GAP + '"')
OBJECT_SO_FAR = re.compile(r"\{" + _GAP + r"(?:/(?:/[^\n]*|\*[^*]*\*?)?)?")
LONGEST_GAP = 256
TEXT_STOP = re.compile(r"[\n`\\{]")
