"""What must not leave the machine or its folders: keys, requests to private addresses, files outside, questions that
a working folder would send to somebody."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from fakes.model_server import Fault
from scripts.bench.reliability import places
from scripts.bench.reliability.bench import CORPUS, Bench, Done, Result
from scripts.bench.reliability.servers import MODEL, Listener, ModelServer

KEYS = {
    "ITERATIVE_RAG_API_KEY": "sk-planted/0123+own=key",
    "OPENAI_API_KEY": "sk-planted/4567+openai=key",
    "OLLAMA_API_KEY": "planted/89ab+ollama=key",
    "QDRANT_API_KEY": "planted/cdef+qdrant=key",
    "TAVILY_API_KEY": "tvly-planted/0246+search=key",
}


def secrets(bench: Bench) -> Result:
    """Commands with keys in the environment, also where a server shows them in its errors: none is kept or shown."""
    home, outputs = bench.library("secrets", 40), list[Done]()
    places.write_questions(home.working / "questions.jsonl", 3)
    evaluate = ("evaluate", "run", "--dataset", "questions.jsonl", "--corpus", CORPUS, "--out", "run")
    question = places.direct_question(0)
    with ModelServer(echoes_keys=True) as server, Listener() as qdrant:
        llm, env = f"openai-like/{MODEL}@{server.url}/v1", _keys_for(server)
        asked = ("ask", question, "--corpus", CORPUS, "--llm", llm)
        for status in (0, 500, 401, 404):
            server.fault = lambda call, status=status: Fault("status", status) if status else None  # type: ignore[misc]
            for options in ((), ("--no-cache", "--json"), ("--no-cache", "--debug")):
                outputs.append(home.run(*asked, *options, env=env, server=server))
        server.fault = lambda call: Fault("status", 500) if call.number % 5 == 0 else None
        for command in (
            (*evaluate, "--llm", llm),
            ("evaluate", "report", "run", "--html", "report.html"),
            ("corpus", "push", CORPUS, f"qdrant://127.0.0.1:{qdrant.port}"),
            ("search", question, "--corpus", CORPUS, "--index", f"qdrant://127.0.0.1:{qdrant.port}"),
            ("trace", "last", "--json", "--calls"),
            ("doctor",),
            ("cache", "stats"),
        ):
            outputs.append(home.run(*command, env=env, server=server, seconds=180))
        received = sum(KEYS["ITERATIVE_RAG_API_KEY"] in str(headers) for headers in server.headers)
    forms = dict(_forms())
    shown = {name for done in outputs for name, form in forms.items() if form in done.out + done.err}
    kept, files = set[str](), 0
    for folder in (home.folder, home.working, home.folder.parent / "empty"):
        for path in (one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()):
            files, content = files + 1, path.read_bytes()
            kept |= {f"{path.relative_to(folder)}: {name}" for name, form in forms.items() if form.encode() in content}
    figures = f"{len(outputs)} commands, {files} files, {received} requests with the key: "
    figures += f"shown {len(shown)}, kept {len(kept)} times {'; '.join([*sorted(shown), *sorted(kept)][:3])}"
    return Result(figures.strip(), not shown and not kept and received > 0)


def _keys_for(server: ModelServer) -> dict[str, str]:
    """The keys, with the host that the package's own one was set up for, where it wants to know that."""
    from importlib.util import find_spec

    host = {"ITERATIVE_RAG_API_KEY_HOST": server.host}
    return KEYS | (host if find_spec("iterative_rag.remote.api_keys") else {})


def _forms() -> Iterator[tuple[str, str]]:
    """A key as it may turn up: as it is, quoted for an address, in base64, in JSON."""
    for name, key in KEYS.items():
        yield name, key
        yield f"{name} (quoted)", urllib.parse.quote(key, safe="")
        yield f"{name} (base64)", base64.b64encode(key.encode()).decode().rstrip("=")[:24]


def hostile_folder(bench: Bench) -> Result:
    """Settings of a folder that was unpacked somewhere name a thief's server: it receives nothing, and that is said."""
    home = bench.library("hostile-folder", 40)
    places.write_questions(home.working / "questions.jsonl", 1)
    elsewhere = bench.folder / "elsewhere"
    silent, taken, runs = list[str](), 0, 0
    with Listener() as thief:
        url = f"http://127.0.0.1:{thief.port}"
        settings = {
            "llm": f"openai-like/{MODEL}@{url}/v1",
            "fast_llm": f"openai-like/{MODEL}@{url}/v1",
            "embedder": f"openai-like/{MODEL}@{url}/v1",
            "index": f"qdrant://127.0.0.1:{thief.port}",
            "search_engine": f"searxng@{url}",
        }
        for form in ("toml", "env"):
            for key, value in settings.items():
                folder = bench.folder / f"unpacked-{form}-{key}"
                folder.mkdir()
                _write_settings(folder, form, {key: value, **({"web": "true"} if key == "search_engine" else {})})
                if form == "env":
                    more = f"OLLAMA_HOST={url}\nITERATIVE_RAG_HOME={elsewhere}\nHTTP_PROXY={url}\nHTTPS_PROXY={url}\n"
                    with (folder / ".env").open("a", encoding="utf-8") as file:
                        file.write(more)
                for command in _sending(bench, key):
                    before = len(thief.received)
                    done = home.run(*command, env=KEYS, cwd=folder)
                    runs, received = runs + 1, len(thief.received) > before
                    taken += received
                    told = key in done.err or "trust" in done.err
                    if not told or (done.code and not done.one_sentence and done.code != 3):
                        silent.append(f"{form} {key} {command[0]}: exit {done.code}")
        loot = [name for name, key in KEYS.items() if any(key.encode() in one for one in thief.received)]
    figures = (
        f"{runs} commands: {taken} reached the thief, {len(loot)} kinds of keys with them, {len(silent)} said nothing"
    )
    wrong = taken or silent or elsewhere.exists()
    return Result(figures + (f": {'; '.join(silent[:3])}" if silent else ""), not wrong)


def _write_settings(folder: Path, form: str, values: dict[str, str]) -> None:
    if form == "env":
        lines = [f"ITERATIVE_RAG_{key.upper()}={value}" for key, value in values.items()]
        (folder / ".env").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    lines = [f"{key} = {value if value == 'true' else json.dumps(value)}" for key, value in values.items()]
    (folder / "iterative-rag.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sending(bench: Bench, key: str) -> list[tuple[str, ...]]:
    """Commands in which a setting would make a difference."""
    ask = ("ask", places.direct_question(0), "--corpus", CORPUS, "--max-seconds", "20")
    named: tuple[str, ...] = ask if key in ("llm", "search_engine") else (*ask, "--llm", "builtin")
    own: tuple[str, ...] = ("index", str(bench.articles(40)), "--corpus", "other")
    search: tuple[str, ...] = ("search", "mayor", "--corpus", CORPUS)
    return {"embedder": [named, search, own], "index": [named, search, own]}.get(key, [named])


def private_addresses(bench: Bench) -> Result:
    """Addresses that lead inside in every notation, redirects and names among them: no request arrives there."""
    home = bench.home("addresses")
    with Listener() as victim:
        urls = _forged(victim.port)
        done = home.run("corpus", "add", *urls, "--corpus", "web", "--ignore-robots", seconds=300)
        one_by_one = [home.run("corpus", "add", url, "--corpus", "web") for url in urls[:: bench.small(8, 20)]]
        redirected = _redirected(victim.port)
        asked = len(victim.received)
    refused = sum(url in done.err or url in done.out for url in urls)
    typed = all(one.code and "Traceback" not in one.err and "Unexpected" not in one.err for one in [done, *one_by_one])
    pages = len(list(home.folder.glob("pages/**/*.md")))
    figures = f"{len(urls)} addresses and {len(redirected)} redirects: {asked} requests arrived, {pages} pages kept, "
    figures += f"{refused} named as refused, exit {done.code}"
    return Result(figures, asked == 0 and pages == 0 and all(redirected) and typed)


def _forged(port: int) -> list[str]:
    hosts = (
        "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1",
        "0177.0.0.1", "017700000001", "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.127.127.127", "127.0.0.1.",
        "①②⑦.⓪.⓪.①", "127。0。0。1", "example.com@127.0.0.1", "user:word@localhost", "127.0.0.1%23.example.com",
        "localhost%00.example.com", "[::1%25lo]", "[fe80::1%25lo]", "[fc00::1]", "10.0.0.1", "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "100.64.0.1", "198.18.0.1", "192.0.0.1", "224.0.0.1",
        "255.255.255.255", "240.0.0.1", "[ff02::1]", "[2001:db8::1]",
    )  # fmt: skip
    others = ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "http:///x", "http://", "https://[::1")
    paths = [f"http://{host}:{port}/x" for host in hosts]
    return [*paths, f"https://127.0.0.1:{port}/x", f"HTTP://127.0.0.1:{port}", *others]


def _redirected(port: int) -> list[bool]:
    """Whether each redirect inside, from a server that may be asked, is refused."""
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    from iterative_rag.errors import FetchError
    from iterative_rag.sources.web.page_client import Web

    paths = [f"{host}:{port}/" for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433")]
    targets = [*(f"http://{path}" for path in paths), f"//{paths[0]}", "file:///etc/passwd", "http://169.254.169.254/"]

    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", targets[int(self.path.strip("/"))])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Redirecting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host, refused = f"127.0.0.1:{server.server_port}", []
    with Web("bench/1.0 (you@example.org)", allow=[host]) as web:
        for number in range(len(targets)):
            try:
                web.get(f"http://{host}/{number}")
                refused.append(False)
            except FetchError:
                refused.append(True)
    server.shutdown()
    server.server_close()
    return refused


def traversal(bench: Bench) -> Result:
    """Names, titles, ids and links that lead out: nothing outside is read, written or removed."""
    home, wrong, steps = bench.home("traversal"), list[str](), 0
    outside, folder = home.folder.parent / "outside", bench.folder / "linked"
    for one in (outside, folder, home.folder):
        one.mkdir()
    secret = "The mayor of Nowhere is Nobody Atall."
    (outside / "secret.md").write_text(f"# Secret\n\n{secret}\n", encoding="utf-8")
    (outside / "secret.jsonl").write_text(json.dumps({"event": "run_started", "question": secret}) + "\n")
    (folder / "own.md").write_text("# Own\n\nThis article is our own.\n", encoding="utf-8")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "folder").symlink_to(outside)
    (folder / "relative.md").symlink_to("../" + f"{home.folder.parent.name}/outside/secret.md")
    row = {
        "id": "../../outside/planted",
        "title": "../../outside/planted",
        "text": "A title that leads out.",
        "url": "../",
    }
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    before = _state(home.folder.parent, outside)
    out = f"../../{outside.name}"
    commands = [
        ("index", str(folder), "--corpus", "linked", "-q"),
        ("show", "../../outside/planted", "--corpus", "linked"),
    ]
    commands += [("search", secret, "--corpus", "linked"), ("show", "Secret", "--corpus", "linked")]
    commands += [("ask", "Who is the mayor of Nowhere?", "--corpus", "linked", "--llm", "builtin")]
    for name in ("..", ".", out, str(outside), "a/../../b", "x\\..\\y", "linked/../../outside", "~", "%2e%2e", "a\nb"):
        commands += [("index", str(folder), "--corpus", name, "-q"), ("search", "mayor", "--corpus", name)]
        commands += [("corpus", "remove", name, "--yes"), ("corpus", "status", name)]
    for run in (f"{out}/secret", str(outside / "secret"), "../corpora/linked/documents", "*", "../*"):
        commands.append(("trace", run, "--json"))
    for command in [*commands[:5], *commands[5 :: bench.small(1, 3)]]:
        done, steps = home.run(*command), steps + 1
        if secret in done.out or "Traceback" in done.err or "Unexpected" in done.err:
            wrong.append(f"{command[0]} {command[1]!r}: exit {done.code} {' '.join(done.err.split())[:80]}")
    after = _state(home.folder.parent, outside)
    changed = sorted(str(path) for path in before ^ after)
    told = f": {'; '.join([*wrong, *changed][:4])}" if wrong or changed else ""
    figures = f"{steps} commands: {len(wrong)} showed what lies outside, {len(changed)} files outside changed{told}"
    return Result(figures, not wrong and not changed)


def _state(parent: Path, outside: Path) -> set[tuple[str, bytes]]:
    """What stands beside the data folder: names, and what the files outside hold."""
    kept = {(str(path), path.read_bytes()) for path in outside.rglob("*") if path.is_file()}
    return kept | {(path.name, b"") for path in parent.iterdir() if path.name not in ("output", "empty")}
