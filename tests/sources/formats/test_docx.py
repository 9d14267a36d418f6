"""Word files are read in their order, with merged cells filled in."""

from __future__ import annotations

from pathlib import Path

from fakes import sample_files
from tests.sources.formats.reading import only


def test_a_word_file_is_read_in_its_order_with_merged_cells_filled_in(tmp_path: Path) -> None:
    word = only(sample_files.docx(tmp_path / "bridge.docx"))
    assert word.title == "Karsa Bridge"
    assert word.text == (
        "# Karsa Bridge\n\nThe bridge crosses the Velm.\n\n## History\n\n- Begun in 1841\n- Opened in 1843\n\n"
        "| Span | Length | Built |\n|---|---|---|\n| West | 31 m | 1841; 1842 |\n| East | 29 m | 1841; 1842 |\n"
        "| All \\| both | 60 m | 60 m |\n\nAfter the table."
    )
