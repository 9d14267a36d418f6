"""Train the evidence reader: a teacher with all layers of the body, then a student that learns from both.

    python -m scripts.train.evidence.train --rows FOLDER --bodies FOLDER --out FILE [--device cuda]

Reads `epoch-000.npz` and so on of `--rows` (`make_rows`) and the body of `--bodies` (`fetch_body`); writes the student
for `export`, and prints the figures of both on rows set aside. The student begins with some of the teacher's layers and
learns the rows' targets, the teacher's probabilities, and the direction of its last hidden states (Sanh et al. 2019).
Ten minutes of an H100, two of them for compiling; the student is written every EVERY steps, so that an interrupted
training leaves one. Without a GPU only good for trying it with few `--steps`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from scripts.train.evidence import measuring, tokens
from scripts.train.evidence.fetch_body import published
from scripts.train.evidence.network import LAYERS, STUDENT_LAYERS, EvidenceReader, load_body, loss
from scripts.train.model import Layer

SEED = 7
EVERY = 500  # steps
WARM, HEADS_FACTOR = 80, 4.0  # steps in which the rate rises; new heads learn so much faster
TARGETS_SHARE = 0.4  # of a student's loss; the rest comes from the teacher
HEADS = ("span.", "heads.", "pooled.")


@dataclass(frozen=True, slots=True)
class Plan:
    steps: int
    rate: float


TEACHER, STUDENT = Plan(2_100, 6e-5), Plan(3_150, 1e-4)


def batches(rows: Path, first: int) -> Iterator[dict[str, Tensor]]:
    """The batches from the first one asked for: file after file, and again in another order."""
    files, number, before = sorted(rows.glob("epoch-[0-9][0-9][0-9].npz")), 0, 0
    while True:
        groups = list(tokens.groups(tokens.load(files[number % len(files)]), random.Random(f"{SEED}/{number}")))
        for group in groups[max(0, first - before) :]:
            yield {name: torch.from_numpy(array) for name, array in tokens.batch(group).items()}
        number, before = number + 1, before + len(groups)


def fit(
    model: EvidenceReader,
    plan: Plan,
    given: Iterator[dict[str, Tensor]],
    teacher: EvidenceReader | None = None,
    out: Path | None = None,
) -> None:
    device = model.device
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for name, p in named if name.startswith(HEADS) == new and (p.ndim > 1) == matrix],
            "weight_decay": 0.01 if matrix else 0.0,
            "factor": HEADS_FACTOR if new and teacher is None else 1.0,
        }
        for new in (False, True)
        for matrix in (False, True)
    ]
    optimiser = torch.optim.AdamW(groups, lr=plan.rate, fused=True)
    model.train()
    began = time.monotonic()
    for step in range(plan.steps):
        b = {name: tensor.to(device, non_blocking=True) for name, tensor in next(given).items()}
        for group in optimiser.param_groups:
            group["lr"] = plan.rate * min(1.0, (step + 1) / WARM) * (1 - step / plan.steps) * group["factor"]
        with torch.autocast(device, torch.bfloat16):
            found = model(b["ids"], b["text"].bool())
            taught = teacher(b["ids"], b["text"].bool()) if teacher else None
        wrong = loss(found, b)
        if taught:
            wrong = TARGETS_SHARE * wrong + (1 - TARGETS_SHARE) * apart(found, taught, b) + turned(found, taught, b)
        optimiser.zero_grad()
        wrong.backward()
        torch.nn.utils.clip_grad_norm_([p for _, p in named], 1.0)
        optimiser.step()
        if (step + 1) % 100 == 0:
            print(f"step {step + 1}, {time.monotonic() - began:.0f} s, loss {wrong.item():.3f}", flush=True)
        if out and (step + 1) % EVERY == 0:
            save(model, out)


def apart(found: dict[str, Tensor], taught: dict[str, Tensor], wanted: dict[str, Tensor]) -> Tensor:
    """How far the student's probabilities are from the teacher's, over the rows from which a head learns."""
    read = (wanted["start"] >= 0) | (wanted["answerable"] >= 0)
    total = found["answerable"].new_zeros(())
    for place in (0, 1):
        total = total + _mean(_divergence(found["span"][:, place], taught["span"][:, place]), read) / 2
    errors = functional.binary_cross_entropy_with_logits(
        found["answerable"][:, 0], taught["answerable"][:, 0].sigmoid(), reduction="none"
    )
    total = total + _mean(errors, wanted["claim"] < 0)
    for name, weight in (("polar", 1.0), ("claim", 1.0), ("kind", 0.2)):
        known = wanted[name] >= 0
        share = known.float().mean().clamp(min=0.1).sqrt()
        total = total + weight * share * _mean(_divergence(found[name], taught[name]), known)
    return total


def turned(found: dict[str, Tensor], taught: dict[str, Tensor], wanted: dict[str, Tensor]) -> Tensor:
    """The mean cosine distance of the last hidden states."""
    alike = functional.cosine_similarity(found["hidden"].float(), taught["hidden"].float(), dim=-1)
    return _mean(1 - alike, wanted["ids"] != tokens.PAD)


def _divergence(found: Tensor, taught: Tensor) -> Tensor:
    both = found.log_softmax(-1), taught.log_softmax(-1)
    return functional.kl_div(*both, log_target=True, reduction="none").sum(-1)


def _mean(values: Tensor, kept: Tensor) -> Tensor:
    return (values * kept).sum() / kept.sum().clamp(min=1)


def student_of(teacher: EvidenceReader) -> EvidenceReader:
    """A reader of fewer layers with the teacher's weights: layers evenly spaced from the first to the last."""
    student = EvidenceReader(STUDENT_LAYERS)
    weights = {name: tensor for name, tensor in teacher.state_dict().items() if not name.startswith("layers.")}
    for place in range(STUDENT_LAYERS):
        kept = round(place * (LAYERS - 1) / (STUDENT_LAYERS - 1))
        weights |= {f"layers.{place}.{name}": tensor for name, tensor in teacher.layers[kept].state_dict().items()}
    student.load_state_dict(weights)
    return student


def save(model: EvidenceReader, out: Path) -> None:
    """Write what was learnt; the published body has the rest."""
    learnt = {name for name, p in model.named_parameters() if p.requires_grad}
    torch.save({name: tensor for name, tensor in model.state_dict().items() if name in learnt}, out)


def look(name: str, model: EvidenceReader, rows: Mapping[str, measuring.Rows]) -> None:
    model.eval()
    with torch.no_grad(), torch.autocast(model.device, torch.bfloat16):
        for family, read in rows.items():
            print(name, family, measuring.figures(read, measuring.TorchReader(model)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--bodies", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--steps", type=int, default=0, help="so many of each, to try it (0: as planned)")
    parser.add_argument("--measure", type=int, default=400, help="rows set aside that a figure is made of")
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    plans = [Plan(arguments.steps or plan.steps, plan.rate) for plan in (TEACHER, STUDENT)]
    if arguments.device == "cuda":
        Layer.forward = torch.compile(Layer.forward, dynamic=True)  # type: ignore[method-assign]
    looked = {
        name: measuring.Rows.read(arguments.rows / f"{name}.jsonl", arguments.measure)
        for name in ("measure", "measure_pairs")
    }
    teacher = EvidenceReader(LAYERS)
    load_body(teacher, published(arguments.bodies))
    teacher.to(arguments.device)
    fit(teacher, plans[0], batches(arguments.rows, 0))
    look("teacher", teacher.requires_grad_(False), looked)
    student = student_of(teacher).to(arguments.device)
    fit(student, plans[1], batches(arguments.rows, plans[0].steps), teacher, arguments.out)
    save(student, arguments.out)
    look("student", student, looked)


if __name__ == "__main__":
    main()
