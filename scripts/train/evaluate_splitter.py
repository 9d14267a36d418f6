"""Measure the splitter on held-out questions, beside the grammar's rules and together with them.

    python -m scripts.train.evaluate_splitter --data FOLDER [--weights FOLDER] [--show SOURCE]

A question counts as found exactly where its innermost spans, as sets of words without articles and question words, are
those that are marked; the overlap is the F1 of these words, best pairs of spans, averaged. Rules give no offsets, so
words are compared; `strict` compares the splitter's offsets.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.builtin.language.function_words import fold, word_set
from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Literal, Lookup, Node, Operation, slots_of
from iterative_rag.builtin.question.span_decoding import KINDS, QuestionKind, Split
from iterative_rag.builtin.question.splitter import Splitter
from scripts.train.data import plain
from scripts.train.split_align import NESTED, SINGLE, UNKNOWN
from scripts.train.split_data import ASKS, Example, mark_asks, measured_files
from scripts.train.split_export import innermost, is_right

_EMPTY = word_set("the a an this which what who whom where when that is was are were of in")


@dataclass(frozen=True, slots=True)
class Found:
    """What a way of splitting says: the kind, and the words of what is looked up first or compared."""

    kind: QuestionKind
    texts: tuple[str, ...]


def by_rules(question: str) -> Found:
    """What the grammar's plan looks up first, and its kind."""
    node = parse(question)
    if isinstance(node, Computed) and node.operation is not Operation.JOIN:
        kind = QuestionKind.INTERSECTION if node.operation is Operation.COMMON else QuestionKind.COMPARISON
        return Found(kind, tuple(operand.source for operand in node.labels or node.operands))
    below = [leaf for slot in slots_of(node) for leaf in _leaves(slot)]
    kind = QuestionKind.NESTED if below else QuestionKind.SINGLE
    return Found(kind, tuple(leaf.template if isinstance(leaf, Lookup) else leaf.source for leaf in below))


def _leaves(node: Node) -> list[Node]:
    """The look-ups below that need nothing before them."""
    deeper = [leaf for slot in slots_of(node) for leaf in _leaves(slot)]
    return deeper or ([] if isinstance(node, Literal) else [node])


def of_split(split: Split) -> Found:
    stretches = split.parts or split.inner
    spans = innermost([(stretch.start, stretch.end) for stretch in stretches])
    return Found(split.kind, tuple(split.question[start:end] for start, end in sorted(spans)))


def wanted(example: Example) -> Found:
    spans = innermost([(mark.start, mark.end) for mark in example.marks or ()])
    return Found(KINDS[example.kind], tuple(example.question[start:end] for start, end in sorted(spans)))


def bag(text: str) -> list[str]:
    return sorted(word for word in plain(fold(text).replace("'s", "")).split() if word not in _EMPTY)


def overlap(one: str, other: str) -> float:
    """F1 of two texts' words."""
    a, b = bag(one), bag(other)
    common = sum(min(a.count(word), b.count(word)) for word in set(a))
    return 2 * common / (len(a) + len(b)) if common else 0.0


def mean_overlap(gold: Sequence[str], found: Sequence[str]) -> float:
    if not gold or not found:
        return float(not gold and not found)
    total = sum(max(overlap(one, other) for other in found) for one in gold)
    return total / max(len(gold), len(found))


@dataclass(slots=True)
class Tally:
    count: int = 0
    kinds: int = 0
    spans: int = 0
    exact: int = 0
    overlap: float = 0.0

    def add(self, gold: Found, example: Example, found: Found) -> None:
        self.count += 1
        self.kinds += gold.kind is found.kind
        if example.marks is not None and example.kind != SINGLE:
            self.spans += 1
            self.exact += sorted(map(bag, gold.texts)) == sorted(map(bag, found.texts))
            self.overlap += mean_overlap(gold.texts, found.texts)

    def __str__(self) -> str:
        spans = self.spans or 1
        return (
            f"kind {self.kinds / self.count:5.1%}  exact {self.exact / spans:5.1%}  overlap {self.overlap / spans:5.3f}"
        )


def ways(splitter: Splitter, threshold: float) -> dict[str, Callable[[str], Found]]:
    def model(question: str) -> Found:
        return of_split(splitter.split(question))

    def rules_first(question: str) -> Found:
        found = by_rules(question)
        return found if found.kind is not QuestionKind.SINGLE else model(question)

    def sure_model_first(question: str) -> Found:
        split = splitter.split(question)
        return of_split(split) if split.confidence >= threshold else by_rules(question)

    def rules_compare(question: str) -> Found:
        found = by_rules(question)
        return found if found.kind is QuestionKind.COMPARISON else model(question)

    return {
        "rules": by_rules,
        "model": model,
        "rules, then model": rules_first,
        "sure model, then rules": sure_model_first,
        "rules compare, model nests": rules_compare,
    }


def calibration(splitter: Splitter, examples: Sequence[Example]) -> str:
    """Brier score, and the share that is right among splits of like confidence."""
    rows = [(split.confidence, is_right(e, split)) for e in examples for split in (splitter.split(e.question),)]
    brier = sum((confidence - right) ** 2 for confidence, right in rows) / len(rows)
    parts = []
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        inside = [right for confidence, right in rows if low <= confidence < low + 0.2 + (low == 0.8)]
        parts.append(f"{low:.1f}: {sum(inside) / max(1, len(inside)):.2f} of {len(inside)}")
    return f"Brier {brier:.3f}; right by confidence {', '.join(parts)}"


def asked_rightly(splitter: Splitter, examples: Sequence[Example]) -> str:
    """How often a span that was found has the class that its head noun tells."""
    hits = [
        ASKS[wanted_class] == one.asks.value
        for example in examples
        for one in splitter.split(example.question).inner
        for mark in example.marks or ()
        if (mark.start, mark.end) == (one.start, one.end) and (wanted_class := mark_asks(example.question, mark)) >= 0
    ]
    return f"what a span stands for: right {sum(hits) / len(hits):.1%} of {len(hits)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/, multihop/ and decomposition/")
    parser.add_argument("--weights", type=Path, help="folder of splitter.onnx (default: the package's)")
    parser.add_argument("--threshold", type=float, default=0.5, help="of the confidence, where rules stand in")
    parser.add_argument("--show", help="print what the model says of a source's questions")
    arguments = parser.parse_args()
    splitter = Splitter(weights=arguments.weights)
    told: list[Example] = []
    for source, examples in measured_files(arguments.data).items():
        known = [example for example in examples if example.kind != UNKNOWN]
        told += [example for example in known if example.marks is not None]
        print(f"{source}: {len(known)} questions, {sum(e.kind == NESTED for e in known)} nested")
        for name, way in ways(splitter, arguments.threshold).items():
            tally = Tally()
            for example in known:
                tally.add(wanted(example), example, way(example.question))
            print(f"  {name:27} {tally}")
        strict = [is_right(e, splitter.split(e.question)) for e in known if e.marks is not None]
        print(f"  {'model, kind and offsets':27} {sum(strict) / len(strict):.1%}")
        if arguments.show == source:
            for example in random.Random(0).sample(known, min(60, len(known))):
                split = splitter.split(example.question)
                found, gold, rules = of_split(split), wanted(example), by_rules(example.question)
                if sorted(map(bag, gold.texts)) != sorted(map(bag, found.texts)) or gold.kind is not found.kind:
                    print(f"    {split.confidence:.2f} {example.question}\n      {gold}\n      {found}\n      {rules}")
    print(calibration(splitter, told))
    print(asked_rightly(splitter, told))


if __name__ == "__main__":
    main()
