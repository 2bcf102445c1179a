"""The text of bytes that a person saved: UTF-8, what PowerShell writes, or the old encoding of Chinese systems."""

import codecs

LONGEST = 4
"""Bytes of one character of UTF-8, so at most one less is cut off at the end of a text."""


def decoded(raw: bytes) -> str:
    """Never raises: what no encoding explains becomes the replacement character."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start > len(raw) - LONGEST:
            return raw.decode("utf-8", errors="replace")
    try:
        return raw.decode("gb18030")
    except UnicodeDecodeError:
        return raw.decode("utf-8", errors="replace")
