"""Decodes bytes of unknown encoding, or says why they are not text; it does not guess where that is in doubt."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import BinaryIO

from iterative_rag.errors.installation import install_command

# UTF-32 first: its mark begins with that of UTF-16.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The encodings in common use. Each further one is one more way to be wrong.
_CANDIDATES = """
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 iso8859_2 iso8859_15 koi8_r koi8_u cp850 cp866
    mac_roman cp874 cp932 euc_jp gb18030 big5 cp949
"""
_SAMPLE = 1 << 16
_BLOCK = 1 << 20
_MIXED = 4  # bytes of valid UTF-8 beyond ASCII: so many do not occur by chance
_MAX_CHAOS = 0.1
_LEAD = 0.05  # of the best decoding over any that gives another text
_WESTERN_LEAD = 0.12  # of any decoding over cp1252, where that gives only Western European letters
# The letters of Western European languages besides ASCII, and the signs of all. Central European text decoded as cp1252
# has a mixture of letters that no language has ("Král přenesl" becomes "Král pøenesl").
_WESTERN = tuple(
    frozenset(letters + letters.upper())
    for letters in (
        "àâçéèêëîïôœùûüÿ",  # French
        "äöüßé",  # German
        "áéíóúüñ",  # Spanish
        "áâãàçéêíóôõúü",  # Portuguese
        "àèéìíîòóùú",  # Italian
        "àèéíïòóúüç",  # Catalan
        "åäöøæéü",  # the Nordic languages
        "éëïöüè",  # Dutch
    )
)
_SIGNS = frozenset("«»“”‘’‚„–—…€£°§©®·½¼²³¿¡ºª\xa0")
# Letters that a wrong decoding gives for others (č, ř, ů, ě, ň, ć, ń): accepted only beside one of these.
_COMPANY = {"è": "éà", "ø": "åæ", "ù": "àèéò", "ì": "àèò", "ò": "àèéí", "æ": "åø", "ñ": "áéíóú"}
_TILDES = re.compile("[ãõ]")
_PORTUGUESE = re.compile("ç[ãõ]|[ãõ][oe]")
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f’‘·–—\xad](?=[^\W\d_])")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD_BYTES = 4096  # in which a <meta> is looked for
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class NotText:
    reason: str


_NUL = NotText("It is binary (it holds NUL bytes), or UTF-16 without a byte order mark.")
_MIX = NotText("It is UTF-8 up to a point and another encoding from there on: save it as UTF-8.")
_UNKNOWN = NotText("It is neither UTF-8 nor plausibly another text encoding.")


def decode(data: bytes, declared: str = "") -> str | NotText:
    """Text with `\\n` line ends: UTF-8/16/32 by its byte order mark, else UTF-8, the `declared` or a detected encoding.

    NotText with the reason where the encoding is in doubt.
    """
    encoding = _by_mark(data)
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding is not None:
            return NotText(f"Its byte order mark says {encoding}, but it is not valid {encoding}.")
        if _high(data[: error.start]) >= _MIXED:
            return _MIX
        codec = _declared(data, declared) or detect(_around(data, error.start))
        if isinstance(codec, NotText):
            return codec
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            return NotText(f"It begins as {codec}, but is not valid {codec} further on.")
    if "\0" in text:
        return _NUL
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_html(data: bytes, charset: str = "") -> str | NotText:
    """The same for a page; `charset` is that of its HTTP header, which a <meta> of the page replaces where it is ""."""
    meta = _META_CHARSET.search(data, 0, _HEAD_BYTES)
    return decode(data, charset or (meta[1].decode("ascii") if meta else ""))


def encoding_of(file: BinaryIO) -> str | NotText:
    """The encoding of a file that is too large to be decoded at once; reads it once and seeks back to its start."""
    head = file.read(_BLOCK)
    marked = _by_mark(head)
    encoding: str | NotText = marked or "utf-8"
    if marked is None:
        reading = codecs.getincrementaldecoder("utf-8")()
        block, high = head, 0
        while True:
            if b"\0" in block:
                return _NUL
            try:
                reading.decode(block, final=not block)
            except UnicodeDecodeError as error:
                mixed = high + _high(block[: error.start]) >= _MIXED
                encoding = _MIX if mixed else detect(_around(block or head, error.start))
                break
            if not block:
                break
            high += 0 if block.isascii() else _MIXED
            block = file.read(_BLOCK)
    file.seek(0)
    return encoding


def detect(sample: bytes) -> str | NotText:
    """The encoding of bytes that are not UTF-8; NotText where several are as likely, or none."""
    if b"\0" in sample:
        return _NUL
    if _CONTROL.search(sample):
        return _UNKNOWN
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return NotText(f"It is not UTF-8; to detect its encoding, type: {install_command('files')}")
    decodings: dict[str, tuple[float, str]] = {}
    for match in from_bytes(sample, cp_isolation=_CANDIDATES.split(), enable_fallback=False):
        text = str(match)
        if match.chaos <= _MAX_CHAOS and not _signs_in_words(text):
            score = match.coherence - 2 * match.chaos
            encodings = (match.encoding, *match.could_be_from_charset)
            encoding = "cp1252" if "cp1252" in encodings else match.encoding
            decodings[text] = max(decodings.get(text, (-1.0, "")), (score, encoding))
    ranked = sorted(((score, encoding, text) for text, (score, encoding) in decodings.items()), reverse=True)
    if not ranked:
        return _UNKNOWN
    best = ranked[0]
    for score, encoding, text in ranked:
        if encoding == "cp1252" and best[0] - score <= _WESTERN_LEAD and _is_western(text):
            return encoding
    if len(ranked) > 1 and best[0] - ranked[1][0] < _LEAD:
        return NotText(f"Its encoding is in doubt ({best[1]} or {ranked[1][1]}): save it as UTF-8.")
    letters = _NOT_ASCII.findall(best[2])
    if (best[0] <= 0 and len(letters) < 8) or len(set(letters)) < 2:
        return NotText(f"Its encoding is in doubt ({best[1]}, but the text is too short to tell): save it as UTF-8.")
    return best[1]


def _by_mark(data: bytes) -> str | None:
    return next((name for mark, name in _BOMS if data.startswith(mark)), None)


def _declared(data: bytes, declared: str) -> str | None:
    """The encoding that the file declares, if its bytes are valid in it."""
    try:
        name = codecs.lookup(declared).name
        # On the web the name Latin-1 means Windows-1252.
        name = "cp1252" if name in ("iso8859-1", "ascii") else name
        data[:_BLOCK].decode(name, errors="strict" if len(data) <= _BLOCK else "ignore")
    except (LookupError, UnicodeError, ValueError):
        return None
    return None if name.startswith("utf") else name


def _around(data: bytes, offset: int) -> bytes:
    """A sample from the first line that is not UTF-8 on; whole lines, where they are short."""
    start = max(data.rfind(b"\n", 0, offset) + 1, offset - _SAMPLE // 4)
    sample = data[start : start + _SAMPLE]
    end = sample.rfind(b"\n") if len(sample) == _SAMPLE else -1
    return sample[:end] if end > 0 else sample


def _is_western(text: str) -> bool:
    """Whether the letters beyond ASCII are those of one Western European language. ã and õ count only as in Portuguese,
    because ă and ő are decoded to them."""
    letters = set(_NOT_ASCII.findall(text)) - _SIGNS
    if not any(letters <= language for language in _WESTERN):
        return False
    lower = {letter.lower() for letter in letters}
    tildes = len(_TILDES.findall(text))
    if tildes and len(_PORTUGUESE.findall(text)) < 0.6 * tildes:
        return False
    return all(lower & set(company) for letter, company in _COMPANY.items() if letter in lower)


def _high(data: bytes) -> int:
    """The number of bytes beyond ASCII."""
    return len(data) - len(data.decode("ascii", errors="ignore"))


def _signs_in_words(text: str) -> bool:
    """Whether there are signs inside words ("f‚t‚"), as a wrong decoding gives them."""
    return 10 * len(_SIGN_IN_WORD.findall(text)) > len(_NOT_ASCII.findall(text))
