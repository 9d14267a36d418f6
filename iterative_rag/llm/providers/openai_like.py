"""OpenAI-compatible servers (vLLM, LM Studio, NVIDIA NIM, Groq, OpenAI) through LlamaIndex."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import LLMError, LLMServerError
from iterative_rag.llm.providers.llama_index import StreamedChat, as_tools, is_refusal, named_thinking
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import is_openai
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import CallState, Server
from iterative_rag.settings import Settings
from iterative_rag.system.installation import install_command
from iterative_rag.system.threads import llama_index_import

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.llms.openai_like import OpenAILike


@dataclass(frozen=True, slots=True)
class _Form:
    """How a reply in JSON is asked for: `json` is the type of `response_format` ("": none is sent); `extras` are the
    seed, and the counts of tokens at the end of the stream."""

    json: str = "json_schema"
    extras: bool = True

    def weaker(self, complaint: str) -> _Form:
        """The next form for a server that refuses this one, without what it complains about."""
        if self.json and _ABOUT_JSON.search(complaint):
            return replace(self, json="json_object" if self.json == "json_schema" else "")
        if self.extras and _ABOUT_EXTRAS.search(complaint):
            return replace(self, extras=False)
        return _PLAIN


_ABOUT_JSON = re.compile(r"response.?format|json.?(?:schema|object|mode)|guided|grammar|structured", re.IGNORECASE)
_ABOUT_EXTRAS = re.compile(r"seed|stream.?options", re.IGNORECASE)
_PLAIN = _Form("", extras=False)
# What a model of a server takes, for the rest of the process.
_forms: dict[tuple[str, str], _Form] = {}
_forms_lock = threading.Lock()
# Groq checks what its model wrote and answers 400 where it breaks the schema: of that reply, not of the form.
_FAILED_GENERATION = re.compile(r"failed.generation|json_validate_failed|failed to generate json", re.IGNORECASE)


class OpenAILikeChat(StreamedChat):
    """A model of an OpenAI-compatible server, with the key that belongs to its host.

    A server that refuses the schema is asked for any JSON object, then without `response_format`; one that refuses
    `stream_options` or `seed`, without them; for the rest of the process. `replies` copes with what comes then.
    """

    def __init__(self, model: str, url: str, settings: Settings) -> None:
        if find_spec("llama_index.llms.openai_like") is None:
            raise LLMError("OpenAI-compatible servers need an extra package.", hint=install_command("openai-like"))
        self._settings = settings
        self._identity = (url, model)
        self._llm: OpenAILike | None = None
        self._lock = threading.Lock()
        super().__init__(
            f"openai-like/{model}@{url} seed={settings.seed}{named_thinking(settings)}",
            Server("openai-like", url, model),
            timeout=settings.timeout,
            retries=settings.retries,
            call=CallState(),
            thinking=_thinking_forms(settings.thinking, url),
        )
        key = key_to_send(url, "openai-like")
        # A function, so that no dump of the object's fields shows the key.
        self._http_options: Callable[[], dict[str, Any]] = lambda: self._call.http_options(
            url, key=key, own_headers=is_openai(url)
        )

    def preload(self) -> None:
        self._object()

    def _object(self) -> OpenAILike:
        """The object of LlamaIndex, made once. Raises LLMError for a model that cannot chat."""
        with self._lock, llama_index_import:
            if self._llm is None:
                import httpx
                from llama_index.llms.openai_like import OpenAILike

                url, model = self._identity
                client: dict[str, Any] = {"http_client": httpx.Client(**self._http_options())}
                try:
                    self._llm = OpenAILike(
                        model=model,
                        api_base=url,
                        api_key="none",  # the HTTP client signs
                        is_chat_model=True,
                        context_window=self._settings.context_window,
                        temperature=0.0,
                        max_retries=0,
                        timeout=self._settings.timeout,
                        **client,
                    )
                except ValueError:  # names that OpenAI serves by another protocol only; not chained: may show the key
                    raise LLMError(f"The model {model!r} has no chat API.", hint="Choose a chat model.") from None
            return self._llm

    def _with_functions(self, request: ChatRequest) -> ChatReply:
        form = self._known_form()
        try:
            return self._attempt(request, partial(self._formed, form))
        except LLMServerError as error:
            if not (is_refusal(error) and form.extras and _ABOUT_EXTRAS.search(str(error))):
                raise
        form = replace(form, extras=False)
        reply = self._attempt(request, partial(self._formed, form))
        self._remember(form)
        return reply

    def _by_schema(self, request: ChatRequest) -> ChatReply:
        known = form = self._known_form()
        failed = False
        while True:
            try:
                reply = self._attempt(request, partial(self._formed, form))
            except LLMServerError as error:
                if not is_refusal(error) or form == _PLAIN:
                    raise
                failed = failed or _FAILED_GENERATION.search(str(error)) is not None
                form = _PLAIN if failed else form.weaker(str(error))
            else:
                break
        if form != known and not failed:  # remembered only if it helped: a 400 may have had another cause
            self._remember(form)
        return reply

    def _formed(
        self, form: _Form, request: ChatRequest, messages: list[ChatMessage], thinking: Mapping[str, Any]
    ) -> Iterator[ChatResponse]:
        options: dict[str, Any] = {}
        if form.extras:
            options |= {"seed": self._settings.seed, "stream_options": {"include_usage": True}}
        if request.functions:
            options["tools"] = as_tools(request.functions)
        elif request.schema and form.json == "json_schema":
            wanted = {"name": request.role, "schema": dict(request.schema), "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif request.schema and form.json:
            options["response_format"] = {"type": form.json}
        return self._object().stream_chat(messages, max_tokens=request.max_tokens, **options, **thinking)

    def _known_form(self) -> _Form:
        with _forms_lock:
            return _forms.get(self._identity, _Form())

    def _remember(self, form: _Form) -> None:
        with _forms_lock:
            _forms[self._identity] = form


def _thinking_forms(thinking: str, url: str) -> Sequence[Mapping[str, Any]]:
    """The fields that switch thinking on or off: servers of open models pass `chat_template_kwargs` on to the template,
    where Qwen and GLM read `enable_thinking`, DeepSeek and Granite `thinking`; OpenAI and others take an effort."""
    if thinking == "auto":
        return ({},)
    on = thinking == "on"
    effort = {"reasoning_effort": "medium" if on else "none"}
    template = {"extra_body": {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}}
    return (effort, {}) if is_openai(url) else (template, effort, {})


def build(spec: Spec, settings: Settings) -> ChatModel:
    return OpenAILikeChat(spec.model, spec.url, settings)
