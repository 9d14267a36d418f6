"""A server that fails: in a share of its calls, in all, in silence, in broken JSON, in the middle, without an end."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence

from fakes import bridge_world
from fakes.model_server import Fault
from scripts.bench.reliability import places
from scripts.bench.reliability.asking import ABSTAINED, ANSWERED, Outcome, asked
from scripts.bench.reliability.bench import (
    STRATEGIES,
    TIMED_OUT,
    Bench,
    Done,
    Result,
    share,
)
from scripts.bench.reliability.servers import Call, ModelServer

RIGHT_SHARE = 0.97
LIMIT = 5  # seconds that a run is given
START = 30.0  # seconds for Python to start and end on a machine that does other things too
GRACE = 2.0  # seconds after its limit in which a run must have ended
START_CPU = 6.0  # processor seconds of a start
SHOWN = 20_000  # characters that a command may print of what a server sent
MEGABYTES = 600  # that a client may hold while it receives a reply without an end
PLACES = 40

ROLES = {
    "analyse": "iterative",
    "extract": "iterative",
    "rephrase": "iterative",
    "answer": "iterative",
    "grade": "full",
    "reword": "crag",
    "suffice": "full",
    "reflect": "full",
    "plan": "plan",
}
REQUIRED = frozenset({"analyse", "extract", "answer", "plan"})  # without these no answer can be proved


def some_faults(bench: Bench) -> Result:
    """30 % of all calls are answered 500 or 503."""
    count = bench.small(160, 40)
    turn = at_random(bench.seed, 0.3, [Fault("status", 500), Fault("status", 503)])
    with ModelServer(fault=turn) as server:
        outcomes = asked(bench.library("some-faults", PLACES), server, [n % PLACES for n in range(count)])
    calls = f"{share(server.faults_made, server.calls_made)} of calls failed"
    return Result(f"{told(outcomes)}; {calls}", all(one.right for one in outcomes))


def all_faults(bench: Bench) -> Result:
    """Every call fails in the same way; by every strategy, through Python, and once each through the command line."""
    kinds = {
        "500": Fault("status", 500),
        "503": Fault("status", 503),
        "dropped": Fault("drop"),
        "cut": Fault("cut"),
        "broken off": Fault("broken"),
        "error in stream": Fault("error"),
        "not JSON": Fault("text", message="I cannot help with that."),
    }
    home = bench.library("all-faults", PLACES)
    chosen = list(kinds)[:: bench.small(1, 3)]
    false, untyped, runs, codes = list[str](), 0, 0, Counter[int]()
    for name in chosen:
        fault = kinds[name]
        with ModelServer(fault=lambda call, fault=fault: fault) as server:  # type: ignore[misc]
            outcomes = asked(home, server, [0], direct=True, strategies=STRATEGIES)
        runs += len(outcomes)
        untyped += sum(not one.typed for one in outcomes)
        ended = [one for one in outcomes if one.status in (ANSWERED, ABSTAINED)]
        false += [f"{one.strategy}/{name}: {one.status}" for one in ended]
    with ModelServer(fault=lambda call: Fault("status", 500)) as server:
        for strategy in STRATEGIES:
            done = home.ask(places.direct_question(0), "--strategy", strategy, "--no-cache", server=server)
            codes[done.code] += 1
            untyped += done.code not in (5, 6)
    figures = f"{len(false)} of {runs} ended as an answer or abstention, {untyped} untyped; exit codes {dict(codes)}"
    return Result(figures + listed(false), not false and not untyped)


def hangs(bench: Bench) -> Result:
    """One role hangs for ever, in a process of its own: it ends at its limit, and never as "not in the corpus"."""
    home = bench.library("hangs", PLACES)
    late, false, slowest = list[str](), list[str](), 0.0
    for role, strategy in ROLES.items():
        options = ("--strategy", strategy, "--max-seconds", str(LIMIT), "--no-cache")
        hung: list[int] = []

        def turn(call: Call, role: str = role, hung: list[int] = hung) -> Fault | None:
            if call.role.startswith(role):  # a joined call, too
                hung.append(call.number)
                return Fault("hang")
            if role == "reword" and call.role == "grade":  # what no document answers is searched for in other words
                numbers = re.findall(r"^<document (\d+) ", call.user, re.MULTILINE)
                poor = [{"n": int(number), "reason": "", "label": "Awful"} for number in numbers]
                return Fault("text", message=json.dumps({"grades": poor}))
            # A question that stays as it is is not settled by its last fact: only then is sufficiency judged.
            kept = role == "suffice" and call.role.startswith("rephrase")
            return Fault("text", message=json.dumps({"question": places.question(1)})) if kept else None

        with ModelServer(fault=turn) as server:
            # Else it is judged only where a need has no value.
            env = {"ITERATIVE_RAG_SUFFICIENCY": "on"} if role == "suffice" else {}
            done = home.ask(_asked_of(role), *options, server=server, seconds=LIMIT + 40, env=env)
        spent = float(done.json.get("usage", {}).get("seconds", done.seconds))
        slowest = max(slowest, spent)
        if spent > LIMIT + GRACE or done.seconds - spent > START or not hung:
            late.append(f"{role}: {spent:.1f} s, exit {done.code}{'' if hung else ', never called'}")
        if _denied(done, role):
            false.append(f"{role}: {done.json.get('status')}")
    figures = f"{len(ROLES) - len(late)} of {len(ROLES)} roles end in time (slowest {slowest:.1f} s of {LIMIT} s)"
    return Result(f"{figures}, {len(false)} false{listed([*late, *false])}", not late and not false)


def _asked_of(role: str) -> str:
    """A question that the role is needed for."""
    return places.question(1) if role in ("rephrase", "suffice") else places.direct_question(1)


def _denied(done: Done, role: str) -> bool:
    """Whether a run in which a role hung says what it cannot know."""
    status = done.json.get("status")
    if status == ABSTAINED:
        return True
    return status == ANSWERED and (role in REQUIRED or done.json["short_answer"] != places.mayor(1))


def broken_json(bench: Bench) -> Result:
    """A fifth of all replies is broken in one of many ways, by the text that it should have been."""
    count = bench.small(200, 60)
    chance = random.Random(bench.seed)

    def turn(call: Call) -> Fault | None:
        if chance.random() >= 0.2 or not call.role:
            return None
        return Fault("text", message=chance.choice(BREAKS)(bridge_world.reply(call.body)))

    with ModelServer(fault=turn) as server:
        outcomes = asked(bench.library("broken-json", PLACES), server, [n % PLACES for n in range(count)])
    calls = f"{share(server.faults_made, server.calls_made)} of replies broken in {len(BREAKS)} ways"
    right = sum(one.right for one in outcomes)
    return Result(f"{told(outcomes)}; {calls}", right >= RIGHT_SHARE * count)


BREAKS: Sequence[Callable[[str], str]] = (
    lambda text: "",
    lambda text: "   \n\n",
    lambda text: text[: len(text) // 2],
    lambda text: text[:-1],
    lambda text: text.replace('"', "'"),
    lambda text: text.replace('"', ""),
    lambda text: text.replace(":", " "),
    lambda text: f"Sure! Here it is:\n```json\n{text}\n```\nAnything else?",
    lambda text: f"<think>{text[:20]} hmm </think>{text}",
    lambda text: f"<think>I wonder whether {text}",
    lambda text: f"{text[:-1]},}}",
    lambda text: f"[{text}, {text}]",
    lambda text: '{"result": "ok"}',
    lambda text: "null",
    lambda text: "[]",
    lambda text: "42",
    lambda text: "I'm sorry, but I can't help with that.",
    lambda text: "<html><body><h1>502 Bad Gateway</h1></body></html>",
    lambda text: text.replace("[", "{").replace("]", "}"),
    lambda text: "{" * 3000,
    lambda text: "[" * 60_000,
    lambda text: text[:-1] + ', "more": "' + "x" * 80_000 + '"}',
    lambda text: text.replace('": ', '": NaN, "x": ', 1),
    lambda text: text.encode().hex(),
    lambda text: "\x00\x1b[2J" + text[5:],
)


def cut_streams(bench: Bench) -> Result:
    """30 % of all replies end too early, in four ways: half a reply is never taken for a whole one."""
    count = bench.small(160, 40)
    turn = at_random(bench.seed, 0.3, [Fault("cut"), Fault("broken"), Fault("error"), Fault("half")])
    with ModelServer(fault=turn) as server:
        outcomes = asked(bench.library("cut-streams", PLACES), server, [n % PLACES for n in range(count)])
    right, wrong = sum(one.right for one in outcomes), sum(one.wrong for one in outcomes)
    figures = f"{told(outcomes)}; {share(server.faults_made, server.calls_made)} of replies cut"
    return Result(figures, not wrong and right >= RIGHT_SHARE * count)


def endless_replies(bench: Bench) -> Result:
    """Replies without an end or beyond any use, in a process of its own: it ends at its limit, and its memory stays
    bounded."""
    home = bench.library("endless", PLACES)
    late, false, peak, slowest = list[str](), list[str](), 0.0, 0.0
    cases = [(kind, role) for kind in ATTACKS for role in ("analyse", "extract", "answer")]
    for kind, role in cases[:: bench.small(1, 2)]:
        with ModelServer(fault=lambda call: ATTACKS[kind]() if call.role == role else None) as server:  # noqa: B023
            options = ("--max-seconds", str(LIMIT), "--no-cache")
            done = home.ask(places.direct_question(1), *options, server=server, seconds=LIMIT + 40)
        # A typed error tells no seconds: all but the start is its run.
        spent = float(done.json.get("usage", {}).get("seconds", max(0.0, done.cpu - START_CPU)))
        peak, slowest = max(peak, done.megabytes), max(slowest, spent)
        if spent > LIMIT + GRACE or done.seconds - spent > START or done.code == TIMED_OUT:
            late.append(f"{kind}/{role}: {spent:.1f} s, exit {done.code}")
        shown = len(done.out) + len(done.err)
        if _denied(done, role) or shown > SHOWN:
            false.append(f"{kind}/{role}: {done.json.get('status')}, {shown:,} characters shown")
    figures = f"{len(cases)} cases, {len(late)} late (slowest {slowest:.1f} s of {LIMIT} s), {len(false)} false, "
    figures += f"peak {peak:.0f} MB"
    return Result(figures + listed([*late, *false]), not late and not false and peak <= MEGABYTES)


def _long(text: str) -> Fault:
    """A reply of the form of every role, with a text where a reason, a fact and an answer stand."""
    fact = {"statement": text, "quote": text, "value": text}
    fields = {"reason": text, "status": "known", "needs": [text], "facts": [fact], "answer": text, "short_answer": text}
    return Fault("text", message=json.dumps(fields))


_PIECE = b'{"message": {"role": "assistant", "content": "%s"}, "done": false}\n' % (b"x " * 100)
# Made with each call: what the bench itself holds would be counted as memory of the command that it starts.
ATTACKS: dict[str, Callable[[], Fault]] = {
    "endless": lambda: Fault("endless", piece=_PIECE, every=0.0005),
    "line": lambda: Fault("endless", piece=b"x" * 4000, every=0.0005),
    "drip": lambda: Fault("endless", piece=_PIECE, every=0.5),
    "brackets": lambda: Fault("text", message="[" * 60_000),
    "hidden brackets": lambda: Fault("text", message='["\\"[\\"' * 40_000),
    "word": lambda: _long("x" * 80_000),
    "long word": lambda: _long("x" * 1_000_000),
    "field": lambda: _long("many words " * 150_000),
}


# --- what several use ------------------------------------------------------------------------


def at_random(seed: int, part: float, faults: Sequence[Fault]) -> Callable[[Call], Fault | None]:
    chance = random.Random(seed)
    return lambda call: chance.choice(faults) if chance.random() < part else None


def told(outcomes: Sequence[Outcome]) -> str:
    """How many are right, and how the others ended."""
    others = Counter("answered wrongly" if one.status == ANSWERED else one.status for one in outcomes if not one.right)
    endings = "".join(f", {count} {status}" for status, count in others.most_common())
    return f"{share(sum(one.right for one in outcomes), len(outcomes))} right{endings}"


def listed(items: Sequence[str], most: int = 4) -> str:
    if not items:
        return ""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f": {'; '.join(items[:most])}{more}"
