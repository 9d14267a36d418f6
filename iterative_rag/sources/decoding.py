"""Decodes bytes of unknown encoding, or says why they are not text; it does not guess where that is in doubt."""

from __future__ import annotations

import codecs
import re

from iterative_rag.errors import FetchError, install_command

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
# Letters of one language besides ASCII: text of Central Europe that is decoded as cp1252 mixes those of several.
_WESTERN = ("àâçéèêëîïôœùûüÿ", "äöüßé", "áéíóúüñ", "àèéìíîòóùú", "àèéíïòóúüç", "åäöøæéü", "éëïöüè")
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f’‘·–—\xad](?=[^\W\d_])")  # "f‚t‚": of a wrong decoding
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD_BYTES = 4096  # in which a <meta> is looked for
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


_UNKNOWN = "It is neither UTF-8 nor plausibly another text encoding."
_NUL = "It is binary (it holds NUL bytes), or UTF-16 without a byte order mark."


class NotText(FetchError):
    """Why bytes are not read as text."""


def decode(data: bytes, declared: str = "") -> str:
    """Text with `\\n` line ends: UTF-8/16/32 by its byte order mark, else UTF-8, the `declared` or a detected encoding.
    Raises NotText with the reason where the encoding is in doubt."""
    mark = next((name for sign, name in _BOMS if data.startswith(sign)), None)
    try:
        text = data.decode(mark or "utf-8")
    except UnicodeDecodeError as error:
        if mark:
            raise NotText(f"Its byte order mark says {mark}, but it is not valid {mark}.") from error
        encoding = _declared(data, declared) or _other(data, error.start)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            raise NotText(f"It begins as {encoding}, but is not valid {encoding} further on.") from error
    if "\0" in text:
        raise NotText(_NUL)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_html(data: bytes, charset: str = "") -> str:
    """The same for a page; `charset` is that of its HTTP header, which a <meta> of the page replaces where it is ""."""
    meta = _META_CHARSET.search(data, 0, _HEAD_BYTES)
    return decode(data, charset or (meta[1].decode("ascii") if meta else ""))


def _other(data: bytes, start: int) -> str:
    """The encoding of data that are UTF-8 before the byte at `start`, and not there."""
    before = data[:start]
    if len(before) - len(before.decode("ascii", errors="ignore")) >= _MIXED:
        raise NotText("It is UTF-8 up to a point and another encoding from there on: save it as UTF-8.")
    begin = max(data.rfind(b"\n", 0, start) + 1, start - _SAMPLE // 4)
    sample = data[begin : begin + _SAMPLE]
    end = sample.rfind(b"\n") if len(sample) == _SAMPLE else -1  # whole lines, where they are short
    return _detected(sample[:end] if end > 0 else sample)


def _detected(sample: bytes) -> str:
    if _CONTROL.search(sample):
        raise NotText(_NUL if b"\0" in sample else _UNKNOWN)
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise NotText(f"It is not UTF-8; to detect its encoding, type: {install_command('files')}") from error
    decodings: dict[str, tuple[float, str]] = {}
    for match in from_bytes(sample, cp_isolation=_CANDIDATES.split(), enable_fallback=False):
        text = str(match)
        if match.chaos <= _MAX_CHAOS and 10 * len(_SIGN_IN_WORD.findall(text)) <= len(_NOT_ASCII.findall(text)):
            encoding = "cp1252" if "cp1252" in (match.encoding, *match.could_be_from_charset) else match.encoding
            score = match.coherence - 2 * match.chaos + _LEAD * (encoding == "cp1252" and _is_western(text))
            decodings[text] = max(decodings.get(text, (-1.0, "")), (score, encoding))
    ranked = sorted(decodings.values(), reverse=True)
    if not ranked:
        raise NotText(_UNKNOWN)
    (best, encoding), *others = ranked
    if others and best - others[0][0] < _LEAD:
        raise NotText(f"Its encoding is in doubt ({encoding} or {others[0][1]}): save it as UTF-8.")
    return encoding


def _is_western(text: str) -> bool:
    """Whether the letters beyond ASCII are those of one Western European language."""
    letters = {letter.lower() for letter in _NOT_ASCII.findall(text) if letter.isalpha()}
    return any(letters <= set(language) for language in _WESTERN)


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
