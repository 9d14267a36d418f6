"""What a test reads off HTML: its marks, its text, and whether anything in it could act."""

from __future__ import annotations

from html.parser import HTMLParser

# What the sanitiser lets through, with its attributes.
_HARMLESS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "span", "table", "thead", "tbody", "tr", "th", "td", "mark", "section"),
}
_ATTRIBUTES = {"id", "class", "href", "rel", "start"}


class HtmlText(HTMLParser):
    """`marked` is what stands in marks, `text` all of it, `suspect` what has no business in a document."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.marked, self.text, self.suspect = "", "", list[str]()
        self._marks = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._marks += tag == "mark"
        if tag not in _HARMLESS:
            self.suspect.append(tag)
        for name, value in attrs:
            if name not in _ATTRIBUTES or (name == "href" and not str(value).startswith(("http://", "https://", "/"))):
                self.suspect.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._marks -= tag == "mark"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._marks:
            self.marked += data

    def handle_comment(self, data: str) -> None:
        self.suspect.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.suspect.append(f"declaration {decl}")


def squeezed(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())
