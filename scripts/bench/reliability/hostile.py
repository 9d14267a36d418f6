"""Hostile input: files, instructions in documents, markup in reports, a corpus that holds nothing."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

from fakes import hostile_files as hostile_files_of
from fakes.model_server import Fault
from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import shown
from iterative_rag.types.documents import as_field
from scripts.bench.reliability import places
from scripts.bench.reliability.bench import LLM, ROOT, Bench, Home, Result
from scripts.bench.reliability.servers import Call, ModelServer

MARK = "zzz"
PAYLOADS = (
    "<zzz1 onclick=zzz()>",
    "</p><script>zzz2()</script>",
    "\"><img src=x onerror='zzz3()'>",
    "'><svg/onload=zzz4()>",
    "</script></style></title></textarea><zzz5>",
    "<!-- --><iframe srcdoc='<zzz6>'></iframe>",
    "[zzz7](javascript:zzz7())",
    "&lt;zzz8&gt; &#60;zzz8&#62;",
    "{{ zzz9 }}{% zzz9 %}",
    "<a href='data:text/html,zzz10'>",
)


def hostile_files(bench: Bench) -> Result:
    """More than a hundred files, with lines of 100 MB and tables of a million rows: none takes the process down."""
    if bench.quick:
        return Result("files of full size: not in a quick run", None)
    folder, files = bench.folder / "hostile-files", hostile_files_of.files()
    folder.mkdir()
    for file in files:
        file.make(folder / file.name, hostile_files_of.FULL)
    try:
        done = bench.home("hostile-files").run(str(folder), module="scripts.bench.reliability.hostile", seconds=580)
    finally:
        hostile_files_of.remove(folder)
    ends = [json.loads(line) for line in done.out.splitlines()]
    # A source is told as one line of visible characters.
    names = {as_field(f"{folder}/{shown(file.name)}").removeprefix(f"{folder}/") for file in files}
    lost = names - {name for name, _ in ends}
    skipped = {name for name, reason in ends if reason}
    figures = (
        f"{len(lost)} of {len(files)} crashed (exit code {done.code}), {len(skipped)} skipped in whole or in part, "
    )
    return Result(f"{figures}peak {done.megabytes:.0f} MB, {done.seconds:.0f} s", not lost and done.code == 0)


def main() -> None:
    """In a process of its own: what becomes of each file of a folder, a line each."""
    folder = Path(sys.argv[1])
    for item in Folder(folder).documents():
        name = item.source.removeprefix(f"{folder}/")
        name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
        print(json.dumps([name.split("/")[0], item.reason if isinstance(item, Skipped) else ""]), flush=True)


def planted_instructions(bench: Bench) -> Result:
    """A model that obeys what documents tell it does no harm, and what sways it is shown."""
    options = ("planted", "--json", "--strategies", "iterative" if bench.quick else "naive,iterative,full")
    done = bench.home("planted").run(*options, module="scripts.bench.hostile_texts", cwd=ROOT, seconds=580)
    if done.code:
        return Result(f"exit {done.code}: {done.err[-200:]}", False)
    rows = done.json["items"]
    obeyed, wrongs, swayed, shown = (sum(row[name] for row in rows) for name in ("obeyed", "wrongs", "swayed", "shown"))
    figures = f"{rows[0]['instructions']} instructions, {len(rows)} runs of each: {obeyed} obeyed by the model, "
    figures += f"{wrongs} did harm, {swayed} swayed an answer, {swayed - shown} of those not shown"
    return Result(figures, wrongs == 0 and swayed == shown)


def empty_corpus(bench: Bench) -> Result:
    """No corpus, an empty folder, files of nothing, a corpus whose text is gone, no name: said in a sentence."""
    home, wrong = bench.home("empty-corpus"), list[str]()
    empty, hollow, gone = (bench.folder / f"{name}-articles" for name in ("empty", "hollow", "gone"))
    for folder in (empty, hollow, gone):
        folder.mkdir()
    (hollow / "nothing.md").write_text("", encoding="utf-8")
    (hollow / "spaces.txt").write_text(" \n\n", encoding="utf-8")
    (gone / "one.md").write_text("# One\n\nOne article.\n", encoding="utf-8")
    home.run("index", str(gone), "--corpus", "gone", "-q")
    (gone / "one.md").write_text("", encoding="utf-8")
    steps: list[tuple[tuple[str, ...], tuple[int, ...]]] = []
    for name, folder in (("empty", empty), ("hollow", hollow), ("gone", gone)):
        steps.append((("index", str(folder), "--corpus", name), (0, 2, 4)))
        # What holds nothing is no corpus, or one that cannot answer: never an answer, never another corpus.
        steps.append((("ask", "Who is the mayor?", "--corpus", name, "--llm", "builtin", "--json"), (3, 4)))
        steps.append((("search", "mayor", "--corpus", name, "--json"), (0, 4)))
    steps.append((("ask", "Who is the mayor?", "--corpus", "missing", "--llm", "builtin"), (4,)))
    steps.append((("search", "mayor", "--corpus", "missing"), (4,)))
    steps.append((("ask", "Who is the mayor?", "--corpus", "", "--llm", "builtin"), (2,)))
    steps.append((("search", "mayor", "--corpus", ""), (2,)))
    steps.append((("index", str(empty), "--corpus", ""), (2,)))
    for arguments, codes in steps:
        done = home.run(*arguments)
        if done.code not in codes or "Traceback" in done.err or "Unexpected" in done.err:
            wrong.append(f"{arguments[0]} --corpus {arguments[arguments.index('--corpus') + 1]!r}: exit {done.code}")
    told = f": {'; '.join(wrong)}" if wrong else ""
    return Result(f"{len(steps) - len(wrong)} of {len(steps)} commands as they should be{told}", not wrong)


def markup_in_reports(bench: Bench) -> Result:
    """Markup in titles, texts, file names, addresses, questions, answers and replies arrives as text."""
    harmless, _ = _report(bench.home("harmless"), bench.folder / "harmless", tuple("plain words" for _ in PAYLOADS))
    hostile, shown = _report(bench.home("markup"), bench.folder / "markup", PAYLOADS)
    plain, page = _Page(harmless), _Page(hostile)
    new = {tag for tag in page.tags if MARK in tag or tag not in plain.tags}
    wrong = [f"elements {sorted(new)}"] if new else []
    wrong += [f"{page.scripts - plain.scripts} more scripts"] if page.scripts != plain.scripts else []
    wrong += [f"attributes {sorted(page.handlers)[:3]}"] if page.handlers else []
    wrong += [f"addresses {sorted(page.addresses)[:3]}"] if page.addresses else []
    figures = f"{len(PAYLOADS)} kinds of markup, {shown} times in the page's text, {len(page.tags)} kinds of elements"
    return Result(figures + (f": {'; '.join(wrong)}" if wrong else ", none of them planted"), not wrong and shown > 0)


def _report(home: Home, folder: Path, payloads: tuple[str, ...]) -> tuple[str, int]:
    """The page of an evaluation in which these texts stand wherever one from outside can; how often it shows them."""
    folder.mkdir()
    for n, text in enumerate(payloads):
        name = re.sub(r"[/\0]", "_", f"{n} {text}")[:80]
        body = f"{places.town(n)} is a harbour town. {places.mayor_sentence(n)} Note: {text} (end of note)."
        row = {"title": f"{places.town(n)} {text}", "text": body, "url": f"javascript:zzz{n}('{text}')"}
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    rows = [
        {"id": f"q{n} {text}", "question": f"{places.direct_question(n)} {text}", "answer": f"{places.mayor(n)} {text}"}
        | {"gold_titles": [f"{places.town(n)} {text}"]}
        for n, text in enumerate(payloads)
    ]
    questions = home.working / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def turn(call: Call) -> Fault | None:
        """Facts and answers that say the planted text, with the quote that holds it."""
        text = next((one for one in payloads if one in call.user), "")
        if call.role == "extract" and f"Note: {text}" in call.user and text:
            quote = f"Note: {text} (end of note)."
            fact = {"statement": f"It is told of the mayor: {text}", "quote": quote, "value": text}
            return Fault("text", message=json.dumps({"facts": [fact]}))
        if call.role == "analyse" and "[1]" in call.user:
            return Fault("text", message=json.dumps({"reason": text, "status": "known", "needs": []}))
        if call.role == "answer" and "[1]" in call.user:
            answer = {"working": text, "compute": [], "status": "answered", "answer": f"{text} [1].", "missing": text}
            return Fault("text", message=json.dumps({**answer, "short_answer": text, "confidence": 0.9}))
        return None

    evaluate = ("evaluate", "run", "--dataset", "questions.jsonl", "--corpus", "markup")
    with ModelServer(fault=turn) as server:
        commands = (
            ("index", str(folder), "--corpus", "markup", "-q"),
            (*evaluate, "--llm", LLM, "--out", "run", "--no-cache", "-q"),
            ("evaluate", "report", "run", "--html", "report.html"),
        )
        for command in commands:
            done = home.run(*command, server=server, seconds=180)
            if done.code:
                raise RuntimeError(f"{command[0]}: exit {done.code}: {done.err[-200:]}")
    page = (home.working / "report.html").read_text(encoding="utf-8")
    return page, _Page(page).text.count(MARK)


class _Page(HTMLParser):
    """What a browser would make of a page: its elements, its scripts, what would run, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.scripts = 0
        self.handlers: set[str] = set()
        self.addresses: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.scripts += tag == "script"
        for name, value in attrs:
            if name.startswith("on") or MARK in name or name == "srcdoc":
                self.handlers.add(name)
            scheme = (value or "").strip().casefold().partition(":")[0]
            if name in ("href", "src", "action", "formaction", "xlink:href") and scheme in ("javascript", "vbscript"):
                self.addresses.add(str(value)[:60])

    def handle_data(self, data: str) -> None:
        self.text += data


if __name__ == "__main__":
    main()
