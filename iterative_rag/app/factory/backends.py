"""Builds cache, embedder, reranker, grader and backend from settings, and finds the profile of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from iterative_rag.settings import Settings, home

if TYPE_CHECKING:
    from iterative_rag.builtin.builtin_backend import BuiltinBackend
    from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
    from iterative_rag.protocols import (
        Backend,
        Cache,
        CallBudget,
        ChatModel,
        Corpus,
        Embedder,
        FactCheck,
        Reranker,
        Roles,
    )
    from iterative_rag.remote.model_spec import Spec
    from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile

_BESIDE = "The model reads, the built-in models plan and check (careful = off gives it every role)."
_UNTESTED = "A small model that was not tested: it reads, the built-in models plan and check. To test it, type:"
_UNUSED = "The built-in models play every role: they do better than this model (careful = off gives it every role)."
_FAST_UNUSED = "--fast-llm is not used: it belongs to an LLM that plays every role, and the built-in models answer."
_LENGTH_UNUSED = "--length is not used: the built-in models give values and extracts, and an LLM writes texts."


def cache(settings: Settings) -> Cache:
    from iterative_rag.storage.cache import DiskCache, NoCache

    return DiskCache(home() / "cache") if settings.cache else NoCache()


def make_embedder(wanted: object | None, settings: Settings, kept: Cache | None = None) -> Embedder:
    """An embedder from a spec, a LlamaIndex `BaseEmbedding`, or an Embedder."""
    from iterative_rag.index.embedders import embedder

    return embedder("builtin" if wanted is None else wanted, timeout=settings.timeout, cache=kept)


def make_reranker(settings: Settings, kept: Cache | None = None, wanted: object | None = None) -> Reranker | None:
    """That of the settings, or `wanted`: a spec, a LlamaIndex node postprocessor or a Reranker. None ranks nothing."""
    wanted = settings.rerank if wanted is None else wanted
    if wanted == "none":
        return None
    from iterative_rag.retrieval.rerankers import reranker

    return reranker(wanted, settings, kept)


def builtin_reader(kept: Cache) -> ReaderRoles:
    """The built-in reader as grader, ranker and second pair of eyes, which costs no LLM call."""
    from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles

    return ReaderRoles(cache=kept)


def fact_check(kept: Cache, *, overruled: bool = False) -> FactCheck:
    """The check of every fact, with the built-in reader as a second pair of eyes: it costs no LLM call either. Its "no"
    is `overruled` by an LLM that reads better."""
    from iterative_rag.verification.fact_support import FactSupport

    return FactSupport(builtin_reader(kept), overruled)


def make_chat_model(wanted: str | Spec, settings: Settings) -> ChatModel | None:
    """The LLM of a spec, as text or parsed; None for the built-in backend."""
    from iterative_rag.llm.providers.model_choice import chat_model

    return chat_model(wanted, settings)[0]


def make_backend(
    settings: Settings,
    kept: Cache,
    embedder: Embedder,
    *,
    llm: object | None = None,
    fast_llm: object | None = None,
    preload: bool = False,
) -> tuple[Backend, str]:
    """Who plays the roles, and one line to tell the user when `auto` had to choose.

    With `preload` the models begin to load on another thread, else with their first call.
    """
    from iterative_rag.llm.providers.model_choice import LARGE, billions, chat_model, chosen
    from iterative_rag.remote.model_spec import Spec
    from iterative_rag.system.threads import in_background

    wanted = settings.llm if isinstance(llm, str | None) else llm
    wanted, notice = chosen(wanted) if isinstance(wanted, str) else (wanted, "")
    main, _ = chat_model(wanted, settings)
    spec = wanted if isinstance(wanted, Spec) else None
    careful = "builtin" if main is None else how_careful(settings, main.name, spec)
    if main is None or careful != "off":
        from iterative_rag.builtin.builtin_backend import BuiltinBackend, load_networks
        from iterative_rag.builtin.encoder import BuiltinEncoder
        from iterative_rag.builtin.reasoning.answer_trust import CAREFUL, GUESSING

        if preload:
            in_background(load_networks)
        encoder = embedder if isinstance(embedder, BuiltinEncoder) else BuiltinEncoder()
        backend = BuiltinBackend(encoder, caution=GUESSING if settings.guess else CAREFUL, cache=kept)
        unused = _FAST_UNUSED if fast_llm or settings.fast_llm else ""
        untold = _LENGTH_UNUSED if settings.length != "short" else ""
        notice = "\n".join(filter(None, (notice, _told(settings, careful) if main else "", unused, untold)))
        if main is None or careful == "builtin":
            return backend, notice
        return CarefulBackend(main, backend, kept), notice
    from iterative_rag.llm.llm_backend import LLMBackend

    fast: ChatModel | None = None
    if faster := settings.fast_llm if isinstance(fast_llm, str | None) else fast_llm:
        fast, _ = chat_model(faster, settings)
    for model in (main, fast):
        if preload and callable(load := getattr(model, "preload", None)):
            in_background(load)
    size = billions(fast.name) if fast else billions(main.name, spec)
    return LLMBackend(main, fast, kept, settings, reads_better=size is None or size >= LARGE), notice


def how_careful(settings: Settings, model: str, spec: Spec | None = None) -> str:
    """The setting `careful` for a model of this name or spec: as it is set, else "on" for a small one."""
    from iterative_rag.llm.providers.model_choice import SMALL, billions

    if settings.careful != "auto":
        return settings.careful
    size = billions(model, spec)
    return "on" if size is not None and size < SMALL else "off"


def _told(settings: Settings, careful: str) -> str:
    """Who plays the roles where the model does not play them all."""
    if settings.careful == "auto":
        return f"{_UNTESTED} iterative-rag doctor --qualify --llm {settings.llm}"
    return _UNUSED if careful == "builtin" else _BESIDE


# --- what is known of a model from its qualification -----------------------------------------


def model_identity(spec: Spec) -> ModelIdentity:
    """What the profile of a model is filed under. Raises UsageError for a wrong OLLAMA_HOST."""
    import hashlib

    from iterative_rag.llm import prompts
    from iterative_rag.remote.server_calls import ollama_url
    from iterative_rag.settings.model_profile import ModelIdentity

    versions = sorted(prompts.versions().items())
    digest = hashlib.sha256(repr(versions).encode()).hexdigest()[:12]
    server = spec.url or (ollama_url() if spec.kind == "ollama" else "")
    return ModelIdentity(f"{spec.kind}/{spec.model}", server, digest)


def with_profile(settings: Settings, spec: Spec) -> tuple[Settings, str]:
    """The settings with the model's profile, and one line about it, "" where there is none or nothing changes.

    A profile that cannot be read is reported in that line, and the run goes on with the settings as they are.
    """
    from iterative_rag.errors import SettingsError

    try:
        profile = _profile(spec)
    except SettingsError as error:
        return settings, f"{error} {error.hint}"
    if profile is None:
        return settings, ""
    changed = [f"{name} {value}" for name, value in profile.changes(settings).items()]
    line = f"From the model's profile of {profile.made[:10]}: {', '.join(changed)}." if changed else ""
    return profile.applied(settings), line


def profile_of(settings: Settings) -> ModelProfile | None:
    """The profile of the model that the settings choose; None where it has none. Raises SettingsError for a file that
    is not one, UsageError for a wrong spec."""
    from iterative_rag.llm.providers.model_choice import chosen

    return _profile(chosen(settings.llm)[0])


def _profile(spec: Spec) -> ModelProfile | None:
    if spec.kind == "builtin":
        return None
    from iterative_rag.settings.model_profile import profiles_folder, read_profile

    return None if not profiles_folder().is_dir() else read_profile(model_identity(spec))


class CarefulBackend:
    """Implements protocols.Backend: a small LLM beside the built-in models, each where it is better: they plan, search,
    check and word the answer, and it reads again what they found. A model of one or two billion parameters reads well,
    but cannot plan and never declines."""

    def __init__(self, model: ChatModel, builtin: BuiltinBackend, cache: Cache) -> None:
        self._model, self._builtin, self._cache = model, builtin, cache
        self.name, self.traits = f"{model.name} + builtin", builtin.traits

    def roles(self, budget: CallBudget, corpus: Corpus | None = None) -> Roles:
        from iterative_rag.builtin.reasoning.second_reading import SecondReading
        from iterative_rag.llm.replies.forms import SentenceReply
        from iterative_rag.llm.roles.extractor import REPLY_TOKENS, LLMSentenceReader
        from iterative_rag.llm.roles.role_call import RoleCall

        call = RoleCall("read", SentenceReply, self._model, budget, self._cache, REPLY_TOKENS)
        second = SecondReading(LLMSentenceReader(call), fact_check(self._cache))
        own = self._builtin.roles(budget, corpus)
        # One sentence does not tell what two articles say together, so that is read afterwards.
        return replace(own, confirmers=(second, *own.confirmers))
