"""Wiki pages as Markdown: all that is said stays, all that only surrounds it goes."""

from __future__ import annotations

import re

import pytest

from iterative_rag.sources.wikipedia.page_markdown import to_markdown

REFERENCE = '<sup id="cite_ref-1" class="reference"><a href="#n">&#91;1&#93;</a></sup>'


def body(html: str) -> str:
    """The Markdown of a page without its title."""
    text = to_markdown(f'<div class="mw-parser-output">{html}</div>', "T")
    assert text.startswith("# T\n")
    return text.removeprefix("# T\n").strip()


def rows(markdown: str) -> list[list[str]]:
    """The cells of a Markdown table, header first, without its rule."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert all(cell == "---" for cell in cells[1])
    return [cells[0], *cells[2:]]


# --- prose -----------------------------------------------------------------------------------


def test_links_and_emphasis_become_plain_text() -> None:
    html = '<p><b>Mara Quill</b> kept <a href="/wiki/Gull">Gull <i>Point</i></a>, a <span lang="de">Turm</span>.</p>'
    assert body(html) == "Mara Quill kept Gull Point, a Turm."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("12&#160;km<sup>2</sup>", "12 km²"),
        ("3.2×10<sup>−6</sup>&#8201;cd", "3.2×10^-6 cd"),
        ("the 19<sup>th</sup> of H<sub>2</sub>O", "the 19th of H2O"),
        (
            '5<span class="frac"><span class="sr-only">+</span><span class="num">1</span>&frasl;<span class="den">2'
            "</span></span>&#160;in",
            "5 1⁄2 in",
        ),
        ('<span class="frac"><sup>3</sup>&frasl;<sub>4</sub></span> mile', "3⁄4 mile"),
        ('<span style="visibility: hidden">0</span>9&#160;t', "9 t"),
        ('<span style="display:none">(<span class="bday">1830-05-09</span>)</span>May 9, 1830', "May 9, 1830"),
        (
            'is <span class="mwe-math-element"><span style="display: none;"><math alttext="{\\displaystyle E=mc^{2}}">'
            '<mi>E</mi></math></span><img alt="{\\displaystyle E=mc^{2}}"></span>',
            "is E=mc^{2}",
        ),
        ("$5 * 3_4 [x](y) &lt;b&gt; &amp; “q” ~x~ `c`", "$5 * 3_4 [x](y) <b> & “q” ~x~ `c`"),
        ("1912. A year", "1912. A year"),
        ("# and + and - here", "# and + and - here"),
    ],
)
def test_numbers_units_and_signs_are_kept(html: str, text: str) -> None:
    assert body(f"<p>{html}</p>") == text


@pytest.mark.parametrize(
    "html",
    [
        REFERENCE,
        '<sup class="noprint Inline-Template">[<i>citation needed</i>]</sup>',
        '<span class="mw-editsection">[<a>edit</a>]</span>',
        '<div role="note" class="hatnote">For other uses, see <a>Heron</a>.</div>',
        '<div class="shortdescription" style="display:none">Keeper</div>',
        '<div class="navbox"><table><tr><td>Lamps of the coast</td></tr></table></div>',
        '<table class="sidebar"><tr><th>Part of a series</th></tr></table>',
        '<table class="box-Stub metadata ambox"><tr><td>This article needs work</td></tr></table>',
        '<div id="toc" class="toc"><h2>Contents</h2><ul><li>1 Years</li></ul></div>',
        "<style>.a{color:red}</style><script>x()</script><!-- note -->",
        '<p class="mw-empty-elt">\n</p>',
        '<figure><img alt="a lamp" src="x.jpg"></figure>',
        '<div class="reflist"><ol class="references"><li>Ref one</li></ol></div>',
    ],
)
def test_what_surrounds_the_text_goes(html: str) -> None:
    assert body(f"<p>Before.</p>{html}<p>After.</p>") == "Before.\n\nAfter."


def test_headings_lists_and_captions() -> None:
    html = f"""
    <div class="mw-heading mw-heading2"><h2 id="Crew">Crew</h2><span class="mw-editsection">[edit]</span></div>
    <figure typeof="mw:File/Thumb"><a><img alt="x"></a><figcaption>The <i>Heron</i> in 1870{REFERENCE}</figcaption>
    </figure>
    <ul><li>Ann<ul><li>her son</li></ul></li><li>Bob</li></ul>
    <div class="mw-heading mw-heading3"><h3>Ranks</h3></div>
    <ol><li>Warden</li><li>Mate</li></ol>
    <dl><dt>Mate</dt><dd>second in command</dd></dl>
    <blockquote><p>The light must never fail.</p></blockquote>
    """
    assert body(html).split("\n\n") == [
        "## Crew",
        "The Heron in 1870",
        "- Ann\n  - her son\n- Bob",
        "### Ranks",
        "1. Warden\n2. Mate",
        "Mate",
        "second in command",
        "> The light must never fail.",
    ]


# --- tables ----------------------------------------------------------------------------------

INFOBOX = f"""
<table class="infobox biography vcard"><tbody>
<tr><th colspan="2" class="infobox-above"><div class="fn">Mara Quill</div></th></tr>
<tr><td colspan="2" class="infobox-image"><span typeof="mw:File"><img alt="portrait"></span>
<div class="infobox-caption">Quill in 1866</div></td></tr>
<tr><th colspan="2" class="infobox-header">Keeper of Gull Point</th></tr>
<tr><td colspan="2" class="infobox-full-data"><b>In office</b><br>March 4, 1857&#160;– March 4, 1861</td></tr>
<tr><th scope="row" class="infobox-label">Preceded&#160;by</th><td class="infobox-data"><a>Ann Dell</a></td></tr>
<tr><th scope="row">Born</th><td><span style="display:none">(1830-05-09)</span>May 9, 1830<br>Saltmarsh, Norland</td>
</tr>
<tr><th scope="row">Height</th><td>1.71&#160;m{REFERENCE}</td></tr>
<tr><th scope="row">Parents</th><td><div class="plainlist"><ul><li><a>Edwin Quill</a></li><li>Jane Moss</li></ul></div>
</td></tr>
<tr><td colspan="2"><table class="infobox-subbox"><tbody><tr><th colspan="2">Service</th></tr>
<tr><th scope="row">Rank</th><td>Warden</td></tr></tbody></table></td></tr>
<tr><td colspan="2" style="display:none">hidden</td></tr>
</tbody></table>
"""


def test_an_infobox_is_a_table_of_labels_and_values() -> None:
    assert rows(body(INFOBOX)) == [
        ["Mara Quill", ""],
        ["Quill in 1866", ""],
        ["Keeper of Gull Point", ""],
        ["In office; March 4, 1857 – March 4, 1861", ""],
        ["Preceded by", "Ann Dell"],
        ["Born", "May 9, 1830; Saltmarsh, Norland"],
        ["Height", "1.71 m"],
        ["Parents", "Edwin Quill; Jane Moss"],
        ["Service", ""],
        ["Rank", "Warden"],
    ]


def test_merged_cells_nested_headers_and_row_headings() -> None:
    html = f"""<p>Text before.</p>
    <table class="wikitable sortable"><caption>Ships of the point{REFERENCE}</caption>
    <thead><tr><th rowspan="2">Name</th><th colspan="2">Size</th><th rowspan="2">Flag</th></tr>
    <tr><th>Length<br>(m)</th><th>Mass (t)</th></tr></thead><tbody>
    <tr><th scope="row"><i>Alder</i></th><td data-sort-value="10">10.5</td><td rowspan="2">5|6</td>
    <td><span class="flagicon"><img alt="Norland" src="f.png"></span></td></tr>
    <tr><th scope="row">Birch</th><td>–</td><td>A<br>B</td></tr>
    <tr><th colspan="4">Lost<br>Ships</th></tr>
    <tr><th scope="row">Cedar</th><td colspan="2">never measured</td><td><ul><li>x</li><li>y</li></ul></td></tr>
    </tbody></table><p>Text after.</p>"""
    text = body(html)
    assert rows(text) == [
        ["Name", "Size / Length (m)", "Size / Mass (t)", "Flag"],
        ["Alder", "10.5", "5|6", "Norland"],
        ["Birch", "–", "5|6", "A; B"],
        ["Lost Ships", "", "", ""],
        ["Cedar", "never measured", "never measured", "x; y"],
    ]
    blocks = text.split("\n\n")
    assert (blocks[0], blocks[1], blocks[-1]) == ("Text before.", "Ships of the point", "Text after.")


def test_a_table_that_folds_others_away_is_no_table() -> None:
    """A district's schools stood in one cell; a player's country is a flag that links to it."""
    inner = '<table class="wikitable"><tr><th>School</th><th>Town</th></tr><tr><td>1</td><td>{}</td></tr></table>'
    flag = '<img alt="" src="f.png"><a title="Norland"><span style="display: none">NOR</span></a>'
    text = body(
        f'<table class="wikitable collapsible"><tr><th>Schools</th></tr><tr><td>{inner.format(flag)}</td></tr></table>'
    )
    assert rows(text) == [["School", "Town"], ["1", "Norland"]]
