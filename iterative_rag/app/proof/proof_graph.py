"""The proof of an answer as a graph: question, needs, facts, computations, answer, and how firm each link is.

Everything is read off the answer: nothing is judged again here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.computing.display import shown
from iterative_rag.storage.output import EXTRACT, marks, quote_of
from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.folding import folded
from iterative_rag.text.markup import plain
from iterative_rag.text.text_blocks import first_sentence
from iterative_rag.types import Answer, ChainLink, Citation, ConfidenceWord, Conflict, Fact, HopRecord, Side, Status

# The built-in reader is right in few of the cases in which it trusts a value less than this.
_WEAK = 0.5


class NodeKind(StrEnum):
    QUESTION = "question"
    NEED = "need"
    FACT = "fact"
    COMPUTATION = "computation"
    ANSWER = "answer"
    NO_ANSWER = "no-answer"

    @property
    def label(self) -> str:
        return "No answer" if self is NodeKind.NO_ANSWER else self.value.capitalize()


class Standing(StrEnum):
    """How firm a link is, the firmest first."""

    FIRM = "firm"
    INFERRED = "inferred"  # the value does not stand in the quote, word for word
    WEAK = "weak"  # the reader or the check trusted it little
    CONTRADICTED = "contradicted"  # another source says otherwise

    @property
    def explanation(self) -> str:
        return _EXPLANATIONS[self]


_EXPLANATIONS = {
    Standing.FIRM: "quoted word for word",
    Standing.INFERRED: "inferred: the value is not in the quote word for word",
    Standing.WEAK: "weak: likely at best",
    Standing.CONTRADICTED: "contradicted by another source",
}


@dataclass(frozen=True, slots=True)
class ProofNode:
    """One box. `text` is what it says, `caption` the small line above; `citation` is the number of the quote that a
    fact stands on; `rank` grows from the question (0) to the answer."""

    id: str
    kind: NodeKind
    text: str
    caption: str = ""
    citation: int | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True)
class ProofLink:
    """From what is given to what follows of it: the ids of two nodes."""

    source: str
    target: str
    standing: Standing = Standing.FIRM


@dataclass(frozen=True, slots=True)
class ProofGraph:
    """Nodes in reading order, the question first and the answer last."""

    nodes: tuple[ProofNode, ...]
    links: tuple[ProofLink, ...]

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Those that occur, the firmest first."""
        standings = {link.standing for link in self.links}
        return tuple(standing for standing in Standing if standing in standings)

    def into(self, node: ProofNode) -> tuple[ProofLink, ...]:
        return tuple(link for link in self.links if link.target == node.id)


@dataclass(frozen=True, slots=True)
class _Found:
    """A citation and the fact of the run that it is of; None for one that an earlier question had found."""

    citation: Citation
    fact: Fact | None


def proof_graph(answer: Answer) -> ProofGraph:
    """The needs whose facts are cited, those facts, and what was made of them."""
    quotes = {citation.n: _found(citation, answer.hops) for citation in answer.citations}
    hop_of = {plain(fact.need.question): hop.n for hop in reversed(answer.hops) for fact in hop.facts}
    nodes = {"question": ProofNode("question", NodeKind.QUESTION, answer.question)}
    links: list[ProofLink] = []
    chain = _chain(answer, quotes)
    ids = {asked: f"need-{n}" for n, asked in enumerate(dict.fromkeys(link.asked for link in chain), start=1)}
    for link in chain:
        hop, need, below = hop_of.get(link.asked, 0), ids[link.asked], [f"fact-{n}" for n in link.builds_on]
        rank = max([2 * hop - 1, *(nodes[key].rank + 1 for key in ("question", *below) if key in nodes)])
        caption = f"Needed in hop {hop}" if hop else "Found for an earlier question"
        nodes.setdefault(need, ProofNode(need, NodeKind.NEED, link.asked, caption, rank=rank))
        links += [ProofLink(f"fact-{n}", need, _standing(quotes[n], answer)) for n in link.builds_on if n in quotes]
        for n in link.citations:
            if n in quotes:
                nodes.setdefault(f"fact-{n}", _fact_node(quotes[n], nodes[need].rank + 1))
                links.append(ProofLink(need, f"fact-{n}", _standing(quotes[n], answer)))
    for n, quote in quotes.items():
        nodes.setdefault(f"fact-{n}", _fact_node(quote, 1))
    led_to = {link.target for link in links}
    links += [ProofLink("question", node.id) for node in nodes.values() if node.rank and node.id not in led_to]
    return _with_end(answer, [*nodes.values()], links)


def _chain(answer: Answer, quotes: Mapping[int, _Found]) -> list[ChainLink]:
    """The chain, and the needs of cited facts that have no link in it."""
    linked = {n for link in answer.chain for n in link.citations}
    others = (
        ChainLink(plain(quote.fact.need.question), "", (n,))
        for n, quote in quotes.items()
        if quote.fact and n not in linked
    )
    return [*answer.chain, *others]


def _with_end(answer: Answer, nodes: list[ProofNode], links: list[ProofLink]) -> ProofGraph:
    """The graph with the computations and the answer."""
    last = max(node.rank for node in nodes)
    drawn = {node.id for node in nodes}
    for n, computed in enumerate(answer.computations, start=1):
        node = ProofNode(
            f"computation-{n}",
            NodeKind.COMPUTATION,
            shown(computed.expression, computed.result),
            f"Computed from {marks(computed.facts)}" if computed.facts else "Computed",
            rank=last + 1,
        )
        nodes.append(node)
        links += [ProofLink(fact, node.id) for cited in computed.facts if (fact := f"fact-{cited}") in drawn] or [
            ProofLink("question", node.id)
        ]
    end = _end(answer, rank=max(node.rank for node in nodes) + 1)
    links += _to_the_end(answer, nodes, links)
    return ProofGraph((*sorted(nodes, key=lambda node: node.rank), end), tuple(dict.fromkeys(links)))


def _found(citation: Citation, hops: Sequence[HopRecord]) -> _Found:
    span = citation.source, citation.start, citation.end
    facts = [fact for hop in hops for fact in hop.facts if (fact.source, fact.start, fact.end) == span]
    return _Found(citation, max(facts, key=lambda fact: fact.score, default=None))


def _fact_node(quote: _Found, rank: int) -> ProofNode:
    citation = quote.citation
    said = plain(quote.fact.value if quote.fact else "") or quote_of(citation)
    where = f"{citation.title}, page {citation.page}" if citation.page else citation.title
    return ProofNode(
        f"fact-{citation.n}", NodeKind.FACT, said, f"[{citation.n}] {where}", citation=citation.n, rank=rank
    )


def _standing(quote: _Found, answer: Answer) -> Standing:
    """How firmly a quote bears out the value that was read from it."""
    if any(quote.citation.n in side.facts for conflict in answer.conflicts for side in _refused(conflict, answer)):
        return Standing.CONTRADICTED
    if quote.fact is None:
        return Standing.FIRM
    if quote.fact.score < _WEAK:
        return Standing.WEAK
    value = folded(plain(quote.fact.value))
    said = folded(f"{quote.citation.title} {plain(quote.citation.quote)}")
    return Standing.FIRM if value in said else Standing.INFERRED


def _refused(conflict: Conflict, answer: Answer) -> Sequence[Side]:
    """The sides that neither the answer nor a later question goes on from; all of them where none was taken."""
    used = folded(" ".join([plain(answer.short_answer), *(need for hop in answer.hops for need in hop.needs)]))
    refused = [side for side in conflict.sides if folded(side.value) not in used]
    return refused or conflict.sides


def _end(answer: Answer, rank: int) -> ProofNode:
    beginning = MARKER.sub("", first_sentence(answer.text))  # as much as a node has room for
    text = f"{beginning} …" if beginning else ""
    said = text if answer.form.is_text else plain(answer.short_answer or answer.text)
    if answer.status is Status.ANSWERED or (answer.short_answer and answer.status is Status.INCOMPLETE):
        caption = f"Answer, {answer.confidence_word}" if answer.confidence_word else "Answer"
        return ProofNode("answer", NodeKind.ANSWER, said, caption, rank=rank)
    if answer.status is Status.EXTRACT:
        return ProofNode("answer", NodeKind.NO_ANSWER, EXTRACT.partition(": ")[2], "Extract", rank=rank)
    return ProofNode("answer", NodeKind.NO_ANSWER, answer.reason or said, answer.label, rank=rank)


def _to_the_end(answer: Answer, nodes: Sequence[ProofNode], links: Sequence[ProofLink]) -> Iterator[ProofLink]:
    """Links from what the answer states, and from what would otherwise lead nowhere."""
    stated = {f"fact-{n}" for n in _numbers(answer.text)}
    contradicted = {link.target for link in links if link.standing is Standing.CONTRADICTED}
    leads_on = {link.source for link in links}
    for node in nodes:
        computed = node.kind is NodeKind.COMPUTATION
        used = any(link.source == node.id and link.target.startswith("computation") for link in links)
        if computed or node.id not in leads_on or (node.id in stated and not used):
            standing = Standing.CONTRADICTED if node.id in contradicted else _last_standing(node, answer)
            yield ProofLink(node.id, "answer", standing)


def _last_standing(node: ProofNode, answer: Answer) -> Standing:
    """How firmly the answer follows from a node, as the check of the answer and its confidence say."""
    claims = [claim for claim in answer.claims if node.citation in claim.facts]
    ungrounded = claims and not any(claim.grounded for claim in claims)
    guessed = answer.last_attempt or answer.confidence_word is ConfidenceWord.WEAK_GUESS
    return Standing.WEAK if ungrounded or guessed or answer.status is Status.INCOMPLETE else Standing.FIRM


def _numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\[(\d{1,4})\]", text)}
