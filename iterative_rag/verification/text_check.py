"""Checks a text of several sentences, or a table, one sentence or cell at a time, and takes out what no fact proves.

A sentence stays if it cites a fact, names nothing that no fact does, and takes its numbers and dates from what it
cites. One without a citation stays only where the rule proves it, and gets the citation. A cell is checked as a claim
about its row and column. A sentence whose subject went with one that was taken out goes, too: a sentence that begins
with a pronoun is understood through the one before it; if that one is gone, "he" seems to speak of whoever was named
earlier.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from iterative_rag.text.citation_markers import MARKER, cited_numbers, with_numbers
from iterative_rag.text.markdown_rows import ENTRY_SIGN, is_row, is_rule, row_cells
from iterative_rag.text.markup import plain
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import begins_with_pronoun, sentences
from iterative_rag.types import Claim, Draft, Inquiry
from iterative_rag.verification.claim_matching import ClaimText, split_claims
from iterative_rag.verification.groundedness import Checked, Standing, check_said

# What a cell of which nothing is left shows.
EMPTY_CELL = "–"
NO_CITATION = "cites no fact"
LOST_SUBJECT = "the sentence that says of whom or what it speaks was left out"
_ENTRY = lazy_pattern(rf"^{ENTRY_SIGN}")
_BLANK_CELL = lazy_pattern(r"[\W_]*|n/?a|unknown|not (?:stated|known|given|in the facts)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckedText:
    """What is left of a text, as it was laid out. Its markers [n] are the numbers of facts: n is the position in
    `Inquiry.facts`, counted from 1. `claims` are its sentences and cells, also those that were taken out: those are not
    grounded."""

    text: str
    claims: tuple[Claim, ...]

    @property
    def left_out(self) -> int:
        return sum(not claim.grounded for claim in self.claims)

    @property
    def kept(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.grounded)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a cell with the words that make a claim of it. `line` and `cell` are where it stands."""

    text: str
    claims: tuple[ClaimText, ...]
    line: int
    cell: int = -1

    def repeats(self, told: Collection[str]) -> bool:
        return self.cell < 0 and MARKER.sub("", self.text).strip() in told


def check_text(
    inquiry: Inquiry, draft: Draft, refused: Collection[str] = (), told: Collection[str] = ()
) -> CheckedText:
    """`refused` are the texts of claims that a reflection found not grounded, `told` those of claims that an earlier
    part of the text makes: they are not repeated. Headings are not part of the text: a report gets those of its
    outline."""
    lines = [line.strip() for line in draft.text.splitlines()]
    units = _units(lines)
    checked = check_said(inquiry, draft, [claim for unit in units for claim in unit.claims])
    by_unit: dict[int, list[Checked]] = {}
    for check in checked:
        by_unit.setdefault(check.said.sentence, []).append(check)
    verdicts = [_verdict(unit, by_unit.get(n, []), draft, refused) for n, unit in enumerate(units)]
    verdicts = _without_lost_subjects(units, verdicts, told)
    numbers = {n: (index + 1,) for n, index in enumerate(draft.cited, start=1)}
    kept: dict[tuple[int, int], list[str]] = {}
    new = [(unit, claim, text) for unit, (claim, text) in zip(units, verdicts, strict=True) if not unit.repeats(told)]
    for unit, claim, text in new:
        if claim.grounded:
            kept.setdefault((unit.line, unit.cell), []).append(_cited(with_numbers(text, numbers), claim))
    return CheckedText(_laid_out(lines, kept), tuple(claim for _, claim, _ in new))


def _units(lines: Sequence[str]) -> list[_Unit]:
    units: list[_Unit] = []
    header: list[str] = []
    for index, line in enumerate(lines):
        if not is_row(line):
            header = []
            for sentence in sentences(plain(_ENTRY.sub("", line))) if not line.startswith("#") else ():
                if said := split_claims(sentence):
                    # What follows the last marker of a sentence rests on all that it cites.
                    cited, n = cited_numbers(sentence), len(units)
                    claims = tuple(replace(claim, cited=claim.cited or cited, sentence=n) for claim in said)
                    units.append(_Unit(sentence, claims, index))
        elif not is_rule(line):
            cells = [plain(cell.text).strip() for cell in row_cells(line)]
            if header:
                units += _cells(cells, header, index, len(units))
            header = header or [MARKER.sub("", cell).strip() for cell in cells]
    return units


def _cells(cells: Sequence[str], header: Sequence[str], line: int, first: int) -> list[_Unit]:
    """The cells of a row that say something. The first names what the row is about, and needs no citation."""
    units: list[_Unit] = []
    label, *columns = (MARKER.sub("", cell).strip() for cell in cells)
    for n, said in enumerate(columns, start=1):
        if not _BLANK_CELL.fullmatch(said):
            column = header[n] if n < len(header) else ""
            text = ": ".join(part for part in (label, column, said) if part)
            claim = ClaimText(text, cited_numbers(cells[n]), first + len(units))
            units.append(_Unit(cells[n], (claim,), line, n))
    return units


def _verdict(unit: _Unit, checked: Sequence[Checked], draft: Draft, refused: Collection[str]) -> tuple[Claim, str]:
    """The claim that the unit makes, and its text; of a claim that stays, `facts` are what it cites or should cite."""
    text = MARKER.sub("", unit.text).strip()
    cited = [draft.cited[n - 1] for n in cited_numbers(unit.text) if 0 < n <= len(draft.cited)]
    proved = [index for check in checked if check.standing is Standing.PROVED for index in check.claim.facts]
    if against := _against(checked, bool(cited), refused):
        return Claim(text, False, (), against), ""
    said = unit.text
    if len(checked) == 1 and checked[0].astray:
        said, cited = text, []  # proved, but by other facts than those that it cites
    if not cited or any(check.astray for check in checked):
        cited = [*cited, *proved]
    if not cited:
        return Claim(text, False, (), NO_CITATION), ""
    doubt = next((check.claim.reason for check in checked if check.standing is Standing.OPEN), "")
    return Claim(text, True, tuple(dict.fromkeys(cited)), doubt), said


def _without_lost_subjects(
    units: Sequence[_Unit], verdicts: Sequence[tuple[Claim, str]], told: Collection[str]
) -> list[tuple[Claim, str]]:
    """The verdicts; what follows a sentence that is not in the text, and speaks of it by a pronoun, does not stay."""
    result, lost = list(verdicts), False
    for n, unit in enumerate(units):
        if unit.cell >= 0:
            continue
        claim, _ = verdicts[n]
        stays = claim.grounded and not unit.repeats(told)
        if not begins_with_pronoun(unit.text):
            lost = not stays
        elif stays and lost:
            result[n] = (Claim(claim.text, False, (), LOST_SUBJECT), "")
    return result


def _cited(text: str, claim: Claim) -> str:
    """The text of a claim with markers for the facts that it does not cite yet, before its full stop."""
    known = cited_numbers(text)
    marks = "".join(f"[{index + 1}]" for index in claim.facts if index + 1 not in known)
    if not marks:
        return text
    body = text.rstrip(".!?…。！？")
    return f"{body}{'' if body.endswith(']') else ' '}{marks}{text[len(body) :]}"


def _against(checked: Sequence[Checked], cites: bool, refused: Collection[str]) -> str:
    """Why a sentence or cell cannot stay, "" if it can."""
    for check in checked:
        if check.standing is Standing.FAILED:
            return check.claim.reason
        if check.claim.text in refused:
            return "a check found no proof of it"
        if check.standing is Standing.PROVED:
            continue
        if not cites:
            return NO_CITATION
        if check.astray:
            return f"what it cites does not say: {', '.join(check.astray)}"
        if check.unrelated:
            return "what it cites says nothing of it"
    return ""


def _laid_out(lines: Sequence[str], kept: dict[tuple[int, int], list[str]]) -> str:
    """The lines with what is left of each; paragraphs and tables of which nothing is left are gone."""
    shown: list[str] = []
    table: list[str] = []
    for index, line in enumerate([*lines, ""]):
        if is_row(line):
            cells = row_cells(line)
            if not table:
                table = [_row([plain(MARKER.sub("", cell.text)) for cell in cells]), _row(["---"] * len(cells))]
            elif any(kept.get((index, n)) for n in range(1, len(cells))):
                said = (" ".join(kept.get((index, n), [])) or EMPTY_CELL for n in range(1, len(cells)))
                table.append(_row([plain(MARKER.sub("", cells[0].text)), *said]))
            continue
        if len(table) > 2:
            shown.append("\n".join(table))
        table = []
        if text := " ".join(kept.get((index, -1), [])):
            entry = bool(_ENTRY.match(line))
            if entry and shown and shown[-1].rpartition("\n")[2].startswith("- "):
                shown[-1] += f"\n- {text}"
            else:
                shown.append(f"- {text}" if entry else text)
    return "\n\n".join(shown)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.strip().replace('|', '/') for cell in cells)} |"
