"""Elements and attributes of XML by their names without the namespace."""

from __future__ import annotations

from xml.etree.ElementTree import Element


def local_name(element: Element) -> str:
    """ "" for what is no element: a comment, an instruction."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def first(root: Element, name: str) -> Element:
    """Raises KeyError if there is none."""
    found = next((one for one in root.iter() if local_name(one) == name), None)
    if found is None:
        raise KeyError(name)
    return found


def attribute(element: Element, name: str) -> str:
    """ "" for none."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


def number(element: Element, name: str, *, most: int) -> int:
    """A count that an attribute states: 1 where it states none, and never more than `most`."""
    told = attribute(element, name)
    # Longer ones are no counts, and Python refuses to convert them.
    return max(1, min(int(told[:9]), most)) if told.isdecimal() else 1
