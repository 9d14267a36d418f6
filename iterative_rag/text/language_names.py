"""The languages that can be named in settings and messages: ISO 639-1 codes and their English names."""

from __future__ import annotations

from functools import cache

_NAMES = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, bs Bosnian, ca Catalan,
cs Czech, cy Welsh, da Danish, de German, el Greek, en English, eo Esperanto, es Spanish, et Estonian, eu Basque,
fa Persian, fi Finnish, fr French, ga Irish, gl Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian,
hy Armenian, id Indonesian, is Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada,
ko Korean, ky Kyrgyz, la Latin, lb Luxembourgish, lo Lao, lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam,
mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, ne Nepali, nl Dutch, nn Norwegian Nynorsk, no Norwegian,
pa Punjabi, pl Polish, ps Pashto, pt Portuguese, ro Romanian, ru Russian, si Sinhala, sk Slovak, sl Slovenian,
so Somali, sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, tl Tagalog,
tr Turkish, tt Tatar, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, yi Yiddish, zh Chinese
"""


@cache
def language_names() -> dict[str, str]:
    """Code -> name: "de" -> "German"."""
    pairs = (entry.split(maxsplit=1) for entry in _NAMES.replace("\n", " ").split(","))
    return {code: name.strip() for code, name in pairs}
