"""Infoboxes of wikitext -> tables of wikitext, as a page has them: a title, then rows of label and value."""

from __future__ import annotations

import re

from iterative_rag.sources.dumps.arguments import Arguments

_BOXES = frozenset(
    ("taxobox", "speciesbox", "automatic taxobox", "subspeciesbox", "chembox", "drugbox", "geobox", "starbox")
)
_NAMES = ("name", "title", "common name", "person name", "show name", "official_name", "fullname", "settlement_name")
# How a box looks, not what it says.
_LOOKS = re.compile(
    r"(?:image|img|logo|map|pushpin|signature|coat.of.arms|mapframe|image_|video).*"
    r"|(?:flag|seal|shield|crest|emblem|photo|cover|icon|picture)(?:[_ ].*)?\d*"
    r"|(?:.*[_ ])?(?:alt|upright|footnotes?|refs?|lang|px)\d*"
    r"|(?:body|box|header|above|title|label|data|caption|name|sub|below)[_ ]?(?:style|class)\d*"
    r"|child|embed|embedded|nocat|sortkey|decat|display|border|upright|imagesize|abovecolou?r|unit_pref|wide|module_size"
)
_SETTING = re.compile(r"yes|no|y|n|on|off|auto|none|true|false|#[0-9a-f]{3,8}|\d+ ?px|(?:x?\d+)+px", re.IGNORECASE)
_KEY = re.compile(r"[^\[\]{}|<>\n]{1,120}")
_NUMBERED = re.compile(r"(?<=[a-z])(\d{1,3})$")
_INNER = ("module", "embed", "misc")
# One parameter names what another holds: leader_title1 = Mayor, leader_name1 = Ann.
_NAMED_BY = re.compile(
    r"((?:subdivision|leader|established|extinct|blank|\w*_?blank\d?|parts|seat|demographics\d?|label|office)_?)"
    r"(?:type|title|name|(?<=label))((?:_?sec)?\d*)"
)
_HOLDS = ("name", "date", "info", "")


def is_infobox(name: str) -> bool:
    """Whether a template of this name (lower case) is a box of facts."""
    return name.startswith("infobox") or name.endswith("infobox") or name in _BOXES


def infobox(given: Arguments) -> str:
    """The box as a table of wikitext: its name above, then a row for each parameter that says something."""
    named = {key: value for key, value in given.named.items() if value}
    top = next((key for key in _NAMES if key in named), "")
    lines = ["|-", "! colspan=2 |", named[top]] if top else []
    labels = _labels(named)
    for key, value in named.items():
        if key == top or key in labels.values() or not _KEY.fullmatch(key):
            continue
        if _LOOKS.fullmatch(key) or _SETTING.fullmatch(value):
            continue
        if key.startswith(_INNER):  # a box within the box: its rows are rows of this one
            lines += ["|-", "| colspan=2 |", value]
        else:
            lines += ["|-", "!", named[labels[key]] if key in labels else _label(key), "|", value]
    return "\n".join(['{|class="infobox"', *lines, "|}"]) if lines else ""


def _labels(named: dict[str, str]) -> dict[str, str]:
    """By parameter: the parameter that says what it is called."""
    found: dict[str, str] = {}
    for key, value in named.items():
        naming = _NAMED_BY.fullmatch(key)
        if naming is None or "\n" in value:
            continue
        stem, number = naming[1], naming[2]
        held = [f"{stem}{word}{number}" if word else f"{stem.rstrip('_')}{number}" for word in _HOLDS]
        if stem == "label":
            held = [f"data{number}"]
        holder = next((one for one in held if one != key and one in named and one not in found), "")
        if holder and holder not in found.values() and key not in found:
            found[holder] = key
    return found


def _label(key: str) -> str:
    label = _NUMBERED.sub(r" \1", " ".join(key.replace("_", " ").split()))
    return label[:1].upper() + label[1:]
