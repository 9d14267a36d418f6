"""Train the evidence reader; can be killed at any time and goes on where it was.

    python -m scripts.train.evidence.train --rows FOLDER --bodies FOLDER --out FOLDER --layers 8 --frozen 4

Reads `epoch-000.npz` and so on of `--rows` (`make_rows`), the body of `--bodies` (`fetch_body`), and writes into
`--out`: `checkpoint.pt` and the one before it, `best.pt`, `curve.jsonl` (figures on rows set aside, by examples and
processor seconds). The rate rises, stays level, and with `--cool-from STEP` falls to nothing within `--cool` steps.
It runs on one thread, which wastes least on small batches.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from scripts.train.evidence import measuring, tokens
from scripts.train.evidence.fetch_body import published
from scripts.train.evidence.network import EvidenceReader, load_body, loss

CHECKPOINT, PREVIOUS, BEST, CURVE = "checkpoint.pt", "checkpoint-1.pt", "best.pt", "curve.jsonl"
WARM, HEADS_FACTOR = 60, 4.0  # steps in which the rate rises; the new heads learn so much faster


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides the outcome, but for what is appended to the rows."""

    layers: int
    frozen: int
    batch: int
    rate: float
    seed: int


def save(path: Path, state: dict[str, Any]) -> None:
    """Whole or not at all, whenever the process is killed; the file before stays as PREVIOUS."""
    part = path.with_suffix(".part")
    torch.save(state, part)
    if path.name == CHECKPOINT and path.exists():
        os.replace(path, path.with_name(PREVIOUS))
    os.replace(part, path)


class Training:
    """A run: model, optimiser, and how far it came."""

    def __init__(self, plan: Plan, out: Path, bodies: Path, device: str) -> None:
        torch.manual_seed(plan.seed)
        self.plan, self.out, self.device = plan, out, device
        self.step, self.seen, self.seconds, self.best = 0, 0, 0.0, -1.0
        self.model = EvidenceReader(plan.layers, plan.frozen)
        load_body(self.model, published(bodies))
        self.model.to(device)
        named = [(name, p) for name, p in self.model.named_parameters() if p.requires_grad]
        head = ("span.", "heads.", "pooled.")
        groups = [
            {
                "params": [p for name, p in named if name.startswith(head) == new and (p.ndim > 1) == matrix],
                "weight_decay": 0.01 if matrix else 0.0,
                "factor": HEADS_FACTOR if new else 1.0,
            }
            for new in (False, True)
            for matrix in (False, True)
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=plan.rate, fused=True)
        self._resume()

    def _resume(self) -> None:
        """Go on from the last checkpoint, or the one before where it was cut short."""
        for name in (CHECKPOINT, PREVIOUS):
            path = self.out / name
            if not path.exists():
                continue
            state = torch.load(path, weights_only=True, map_location=self.device)
            if state["plan"] != asdict(self.plan):
                raise SystemExit(f"refused: {path} is of another plan ({state['plan']}); choose another --out")
            self.model.load_state_dict(state["model"], strict=False)  # what is frozen is as published
            self.optimiser.load_state_dict(state["optimiser"])
            torch.set_rng_state(state["chance"].cpu())
            self.step, self.seen, self.seconds, self.best = (state[k] for k in ("step", "seen", "seconds", "best"))
            print(f"goes on from step {self.step} ({self.seen} examples)", flush=True)
            return

    def trained(self) -> dict[str, torch.Tensor]:
        """The weights that training changes."""
        kept = {name for name, p in self.model.named_parameters() if p.requires_grad}
        return {name: tensor for name, tensor in self.model.state_dict().items() if name in kept}

    def checkpoint(self) -> None:
        state = {
            "plan": asdict(self.plan),
            "model": self.trained(),
            "optimiser": self.optimiser.state_dict(),
            "chance": torch.get_rng_state(),
            "step": self.step,
            "seen": self.seen,
            "seconds": self.seconds,
            "best": self.best,
        }
        save(self.out / CHECKPOINT, state)

    def learn(self, arrays: dict[str, tokens.Ints], factor: float) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.rate * factor * group["factor"]
        b = {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}
        with torch.autocast(self.device, torch.bfloat16):
            found = self.model(b["ids"], b["text"].bool())
        wrong = loss(found, b)
        self.optimiser.zero_grad()
        wrong.backward()
        torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 1.0)
        self.optimiser.step()
        self.step += 1
        self.seen += len(arrays["ids"])
        return float(wrong.item())


def remaining(rows: Path, plan: Plan, done: int) -> Iterator[dict[str, tokens.Ints]]:
    """The batches after the first `done`: file after file, and again from the first in another order."""
    before, number = 0, 0
    while True:
        # Listed anew each time: files may be added while a run goes on.
        found = sorted(rows.glob("epoch-[0-9][0-9][0-9].npz"))
        chance = random.Random(f"{plan.seed}/{number}")
        pieces = tokens.load(found[number % len(found)])
        count = -(-len(pieces) // plan.batch)
        if before + count > done:
            if number >= len(found):
                chance.shuffle(pieces)
            for place, one in enumerate(tokens.batches(pieces, plan.batch, chance), start=before):
                if place >= done:
                    yield one
        before, number = before + count, number + 1


def rate_factor(step: int, cool_from: int, cool: int) -> float:
    falling = max(0.0, 1 - (step - cool_from) / cool) if cool_from and step >= cool_from else 1.0
    return min(1.0, (step + 1) / WARM) * falling


def run(training: Training, arguments: argparse.Namespace) -> None:
    looked = measuring.Rows.read(arguments.rows / "measure.jsonl", arguments.measure)
    stop: list[int] = []

    def asked_to_stop(number: int, frame: FrameType | None) -> None:
        stop.append(number)

    signal.signal(signal.SIGTERM, asked_to_stop)
    training.model.train()
    saved, losses, began = time.monotonic(), [], time.process_time()
    measured = training.seconds
    for arrays in remaining(arguments.rows, training.plan, training.step):
        factor = rate_factor(training.step, arguments.cool_from, arguments.cool)
        if stop or not factor or training.step == arguments.steps:
            break
        losses.append(training.learn(arrays, factor))
        now = time.process_time()
        training.seconds, began = training.seconds + now - began, now
        if training.step % 20 == 0:
            each = sum(losses) / len(losses)
            print(f"step {training.step} seen {training.seen} cpu {training.seconds:.0f} s loss {each:.3f}", flush=True)
            losses = []
        if training.seconds - measured >= arguments.look_every:
            measured = training.seconds
            look(training, looked)
            began = time.process_time()  # measuring is not training
        if time.monotonic() - saved >= arguments.save_every:
            training.checkpoint()
            saved = time.monotonic()
    training.checkpoint()
    look(training, looked)
    print(f"stopped at step {training.step}", flush=True)


def look(training: Training, looked: measuring.Rows) -> None:
    """Append the figures on rows set aside to the curve, and keep the best weights."""
    training.model.eval()
    with torch.no_grad(), torch.autocast(training.device, torch.bfloat16) if training.device else nullcontext():
        figures = measuring.figures(looked, measuring.TorchReader(training.model, training.device))
    training.model.train()
    line = {"step": training.step, "seen": training.seen, "cpu": round(training.seconds), **figures}
    with (training.out / CURVE).open("a", encoding="utf-8") as curve:
        curve.write(json.dumps(line) + "\n")
    print(json.dumps(line), flush=True)
    score = figures["f1_answered"] + figures["polar"] + figures["claim"]
    if score > training.best:
        training.best = score
        save(training.out / BEST, {"plan": asdict(training.plan), "model": training.trained(), "step": training.step})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--bodies", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=8, help="the lowest so many are kept")
    parser.add_argument("--frozen", type=int, default=4, help="the lowest so many are not trained")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many (0: never)")
    parser.add_argument("--cool-from", type=int, default=0, help="step at which the rate begins to fall (0: never)")
    parser.add_argument("--cool", type=int, default=2000, help="steps in which it falls")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--save-every", type=float, default=600, help="seconds between checkpoints")
    parser.add_argument("--look-every", type=float, default=600, help="processor seconds between figures")
    parser.add_argument("--measure", type=int, default=400, help="rows set aside that a figure is made of")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    plan = Plan(arguments.layers, arguments.frozen, arguments.batch, arguments.rate, arguments.seed)
    run(Training(plan, arguments.out, arguments.bodies, arguments.device), arguments)


if __name__ == "__main__":
    main()
