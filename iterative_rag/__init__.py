"""Answers multi-hop questions over a corpus, hop by hop, with quoted citations.

>>> from iterative_rag import IterativeRAG
>>> IterativeRAG.from_settings(llm="builtin").ask("Who was the mother of the 15th first lady?")  # doctest: +SKIP

Names are imported on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from iterative_rag.system.telemetry import switch_off

TYPE_CHECKING = False  # that of `typing`, whose import would take longer than all of this
if TYPE_CHECKING:
    from typing import Any

    from iterative_rag.app.factory import IterativeRAG
    from iterative_rag.app.proof.proof_check import ProofCheck, proof_of, verify_proof
    from iterative_rag.errors import IterativeRAGError
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.settings import Settings, load_settings
    from iterative_rag.types import (
        AnalysisStep,
        Answer,
        AnswerForm,
        AnsweringStep,
        Citation,
        ConfidenceWord,
        EditKind,
        Fact,
        FactEdit,
        FinalStep,
        NeedEdit,
        ReadingStep,
        ReasonCode,
        RephrasingStep,
        ShortlistStep,
        Status,
        Step,
        Usage,
        Within,
    )

    __version__: str

# Before any other import of the package: onnxruntime reads its switch once, when it is first imported.
switch_off()

# Where the names below are looked for, what is quick to import first.
_HOMES = ("errors", "types", "settings", "app.factory", "app.proof.proof_check", "index.ingest")

__all__ = [
    "AnalysisStep",
    "Answer",
    "AnswerForm",
    "AnsweringStep",
    "Citation",
    "ConfidenceWord",
    "EditKind",
    "Fact",
    "FactEdit",
    "FinalStep",
    "IngestReport",
    "IterativeRAG",
    "IterativeRAGError",
    "NeedEdit",
    "ProofCheck",
    "ReadingStep",
    "ReasonCode",
    "RephrasingStep",
    "Settings",
    "ShortlistStep",
    "Status",
    "Step",
    "Usage",
    "Within",
    "__version__",
    "load_settings",
    "proof_of",
    "verify_proof",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("iterative-rag")
        except PackageNotFoundError:  # a checkout on the path that nobody installed
            return "0+checkout"
    if name in __all__:
        from importlib import import_module

        modules = (import_module(f"iterative_rag.{home}") for home in _HOMES)
        return next(getattr(module, name) for module in modules if hasattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
