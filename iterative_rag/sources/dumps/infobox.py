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
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])[A-ZÀ-Þ](?=[a-zà-ÿ])")
_INNER = ("module", "embed", "misc")
# One parameter labels another: leader_title1 = Mayor, leader_name1 = Ann.
_LABELLING = re.compile(
    r"((?:subdivision|leader|established|extinct|blank|\w*_?blank\d?|parts|seat|demographics\d?|label|office)_?)"
    r"(?:type|title|name|(?<=label))((?:_?sec)?\d*)"
)
_LABELLED = ("name", "date", "info", "")


def is_infobox(name: str) -> bool:
    """Whether a template of this name (lower case) is an infobox."""
    return name.startswith(_STARTS) or name.endswith("infobox") or name in _BOXES


def is_content(key: str, value: str) -> bool:
    """Whether an argument says something, and is neither empty nor a setting of the layout."""
    return bool(value and _KEY.fullmatch(key)) and not (_LAYOUT.fullmatch(key) or _SETTING.fullmatch(value))


def infobox(given: Mapping[str, str], written: Mapping[str, str]) -> str:
    """The box as a table in wikitext: its name, then a row for each argument of content, by its name as `written`."""
    named = {key: value for key, value in given.items() if value}
    top = next((key for key in _NAMES if key in named), "")
    lines = ["|-", "! colspan=2 |", named[top]] if top else []
    labels = _labels(named)
    for key, value in named.items():
        if key == top or key in labels.values() or not is_content(key, value):
            continue
        if key.startswith(_INNER):  # a box within the box: its rows become rows of this one
            lines += ["|-", "| colspan=2 |", value]
        else:
            lines += ["|-", "!", named[labels[key]] if key in labels else _label(written.get(key, key)), "|", value]
    return "\n".join(['{|class="infobox"', *lines, "|}"]) if lines else ""


def _labels(named: dict[str, str]) -> dict[str, str]:
    """For each labelled parameter, the parameter that holds its label."""
    labels: dict[str, str] = {}
    for key, value in named.items():
        labelling = _LABELLING.fullmatch(key)
        if labelling is None or "\n" in value:
            continue
        stem, number = labelling[1], labelling[2]
        labelled = [f"{stem}{word}{number}" if word else f"{stem.rstrip('_')}{number}" for word in _LABELLED]
        if stem == "label":
            labelled = [f"data{number}"]
        target = next((name for name in labelled if name != key and name in named and name not in labels), "")
        if target and target not in labels.values() and key not in labels:
            labels[target] = key
    return labels


def _label(key: str) -> str:
    words = _CAMEL.sub(lambda match: f" {match[0].lower()}", key.replace("_", " ")).split()
    label = _NUMBERED.sub(r" \1", " ".join(words))
    return label[:1].upper() + label[1:]
