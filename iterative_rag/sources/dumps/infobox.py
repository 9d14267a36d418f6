"""Infobox templates -> tables in wikitext: a title, then rows of label and value."""

from __future__ import annotations

import re
from collections.abc import Mapping

_BOXES = frozenset(
    ("taxobox", "speciesbox", "automatic taxobox", "subspeciesbox", "chembox", "drugbox", "geobox", "starbox")
)
_STARTS = ("infobox", "ficha de", "карточка")
_NAMES = ("name", "title", "common name", "person name", "show name", "official_name", "fullname", "settlement_name")
# Parameters of layout, not of content.
_LAYOUT = re.compile(
    r"(?!.*caption\d*$)(?:image|img|logo|map|pushpin|signature|coat.of.arms|mapframe|image_|video).*"
    r"|(?:flag|seal|shield|crest|emblem|photo|cover|icon|picture)(?:[_ ].*)?\d*"
    r"|.*[_ ]footnotes?|(?:.*[_ ])?(?:alt|upright|refs?|lang|px)\d*"
    r"|(?:body|box|header|above|title|label|data|caption|name|sub|below)[_ ]?(?:style|class)\d*"
    r"|child|embed|embedded|nocat|sortkey|decat|display|border|upright|imagesize|abovecolou?r|unit_pref|wide|module_size"
)
_SETTING = re.compile(r"yes|no|y|n|on|off|auto|none|true|false|#[0-9a-f]{3,8}|\d+ ?px|(?:x?\d+)+px", re.IGNORECASE)
_KEY = re.compile(r"[^\[\]{}|<>\n]{1,120}")
_NUMBERED = re.compile(r"(?<=[a-z])(\d{1,3})$")
_INNER = ("module", "embed", "misc")


def is_infobox(name: str) -> bool:
    """Whether a template of this name (lower case) is an infobox."""
    return name.startswith(_STARTS) or name.endswith("infobox") or name in _BOXES


def is_content(key: str, value: str) -> bool:
    """Whether an argument says something, and is neither empty nor a setting of the layout."""
    return bool(value and _KEY.fullmatch(key)) and not (_LAYOUT.fullmatch(key) or _SETTING.fullmatch(value))


def infobox(given: Mapping[str, str]) -> str:
    """The box as a table in wikitext: its name, then a row for each argument of content."""
    named = {key: value for key, value in given.items() if value}
    top = next((key for key in _NAMES if key in named), "")
    lines = ["|-", "! colspan=2 |", named[top]] if top else []
    for key, value in named.items():
        if key == top or not is_content(key, value):
            continue
        if key.startswith(_INNER):  # a box within the box: its rows become rows of this one
            lines += ["|-", "| colspan=2 |", value]
        else:
            lines += ["|-", "!", _label(key), "|", value]
    return "\n".join(['{|class="infobox"', *lines, "|}"]) if lines else ""


def _label(key: str) -> str:
    label = " ".join(_NUMBERED.sub(r" \1", key.replace("_", " ")).split())
    return label[:1].upper() + label[1:]
