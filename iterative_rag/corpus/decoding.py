"""Bytes of unknown origin to text, or the reason why they are none."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# cp1252 decodes almost anything: it is believed only if few bytes are control characters or high ones.
_MAX_HIGH_SHARE = 0.3
_LOOK = 1 << 20


@dataclass(frozen=True, slots=True)
class NotText:
    reason: str


def decode(data: bytes) -> str | NotText:
    """UTF-8, or UTF-8/UTF-16 by its byte order mark, else Windows-1252 where that is plausible; `\\n` line ends."""
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if encoding is None and b"\0" in data:
        return NotText("It is binary (it holds NUL bytes).")
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding is not None:
            return NotText(f"Its byte order mark says {encoding}, but it is not that.")
        if not _plausible_cp1252(data[:_LOOK]):
            return NotText("It is neither UTF-8 nor plausibly another text encoding.")
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        return NotText("It is binary (it holds NUL characters).")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _plausible_cp1252(data: bytes) -> bool:
    control = sum(data.count(bytes([code])) for code in range(32) if code not in b"\t\n\r\f")
    undefined = sum(data.count(bytes([code])) for code in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
    high = len(data) - len(data.decode("ascii", errors="ignore"))
    return control == 0 and undefined == 0 and high <= _MAX_HIGH_SHARE * len(data)
