"""Reads a file or a folder as a corpus does: its documents, or why there are none."""

from __future__ import annotations

from pathlib import Path

from fakes import sample_files
from iterative_rag.protocols import Skipped
from iterative_rag.sources import open_source
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document


def documents(path: Path) -> list[Document]:
    items = list(open_source(path).documents())
    assert not [item for item in items if isinstance(item, Skipped)]
    return [item for item in items if isinstance(item, Document)]


def only(path: Path) -> Document:
    (document,) = documents(path)
    return document


def reasons(path: Path, limits: Limits | None = None) -> list[str]:
    return [item.reason for item in Folder(path, limits=limits).documents() if isinstance(item, Skipped)]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


PAGE = """<!doctype html><html><head><title>Velm Tower – Towers of Karsa</title>
<link rel="canonical" href="https://towers.example/velm"><style>p {color: red}</style></head><body>
<header>Towers of Karsa</header><nav><a href="/">Home</a></nav><main><h1>Velm Tower</h1>
<p>Built <b>in</b> 1911, it is 10<sup>2</sup> m high.</p><script>track()</script>
<table><tr><th>Part</th><th>Height</th></tr><tr><td rowspan="2">Lower</td><td>31 m</td></tr><tr><td>9 m</td></tr>
</table><p hidden>Not shown.</p><aside>Advertisement</aside></main><footer>Imprint</footer></body></html>"""


def mixed(folder: Path) -> Path:
    folder.mkdir()
    sample_files.docx(folder / "word.docx")
    record = '{"title": "Same", "text": "Same."}\n'
    files: dict[str, str | bytes] = {
        "page.html": PAGE,
        "tower.pdf": sample_files.pdf("Page one."),
        "table.csv": "a,b\n1,2\n",
        "one.json": record,
        "two.jsonl": record,
        "three.jsonl": record,
        "text.txt": "Text.",
    }
    for name, content in files.items():
        written(folder / name, content)
    return folder
