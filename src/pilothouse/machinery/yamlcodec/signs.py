"""What the bytes of YAML are to the reader: tables by byte, and the offsets it counts with."""

from __future__ import annotations

from typing import Final

BLANK: Final = 1  # parts words
BREAK: Final = 2  # ends lines; carriage returns are gone before, other breaks are left to the events
FLOW: Final = 4  # ends a plain scalar in flow style


def table(signs: bytes) -> bytes:
    """One for each of `signs`, zero for all other bytes."""
    return bytes(byte in signs for byte in range(256))


# What may end a plain scalar, in block and in flow style.
ENDS: Final = table(b"\n:#\t\0")
FLOW_ENDS: Final = table(b"\n:#\t,[]{}\0")
# Bytes that a plain scalar never begins with; `-`, `?` and `:` may begin one, if something stands right behind.
NEVER_FIRST: Final = table(b"\0\t\n ,[]{}#&*!|>'\"%@`")
BLANK_OR_END: Final = table(b" \t\n")  # as libyaml has it: a blank, a break, or nothing more
FLOW_SIGNS: Final = table(b",[]{}")
# How a plain scalar begins that may be another value than a text.
SPECIAL: Final = table(b"+-.0123456789yYnNtTfFoO~<=")
ANCHORS: Final = table(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-")
ANCHOR_ENDS: Final = table(b",]}")  # in flow style
_DIGITS: Final = {ord(digit): int(digit, 16) for digit in "0123456789abcdefABCDEF"}
HEX: Final = bytes(_DIGITS.get(byte, 255) for byte in range(256))  # the values of hexadecimal digits
LONGEST_KEY: Final = 1024  # bytes from the beginning of a key to its colon
