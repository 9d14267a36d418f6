"""OpenAI-compatible servers (vLLM, LM Studio, NVIDIA NIM, Groq, OpenAI) through LlamaIndex."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import LLMError, install_command
from iterative_rag.llm.providers.llama_index import StreamedChat, as_tools, named_thinking
from iterative_rag.llm.providers.server_traits import Form
from iterative_rag.protocols import ChatRequest
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import is_openai
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import Server
from iterative_rag.settings import Settings
from iterative_rag.system.threads import llama_index_import

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.llms.openai_like import OpenAILike


class OpenAILikeChat(StreamedChat):
    """A model of an OpenAI-compatible server, with the key that belongs to its host.

    A server that refuses the schema is asked for a JSON object by it, for any JSON object, then without
    `response_format`; one that refuses `stream_options` or `seed`, without them. `replies` copes with what comes then.
    """

    def __init__(self, spec: Spec, settings: Settings) -> None:
        if find_spec("llama_index.llms.openai_like") is None:
            raise LLMError("OpenAI-compatible servers need an extra package.", hint=install_command("openai-like"))
        url = spec.url
        self._llm: OpenAILike | None = None
        super().__init__(
            f"openai-like/{spec.model}@{url} seed={settings.seed}{named_thinking(settings)}",
            Server("openai-like", url, spec.model),
            settings,
            thinking=_thinking_forms(settings.thinking, url),
            unthinking=settings.thinking == "off",
            form=Form(),
        )
        key = key_to_send(url, "openai-like")
        # A function, so that no dump of the object's fields shows the key.
        self._http_options: Callable[[], dict[str, Any]] = lambda: self._call.http_options(
            url, key=key, own_headers=is_openai(url)
        )

    def preload(self) -> None:
        """Make the object of LlamaIndex, once. Raises LLMError for a model that cannot chat."""
        with self._lock, llama_index_import:
            if self._llm is None:
                import httpx
                from llama_index.llms.openai_like import OpenAILike

                url, model = self._server.url, self._server.model
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

    def _stream(self, request: ChatRequest, messages: list[ChatMessage], form: Form) -> Iterator[ChatResponse]:
        options: dict[str, Any] = {}
        if form.extras:
            options |= {"seed": self._settings.seed, "stream_options": {"include_usage": True}}
        if request.functions:
            options["tools"] = as_tools(request.functions)
        elif request.schema and form.json == "json_schema":
            wanted = {"name": request.role, "schema": dict(request.schema), "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif request.schema and form.json:
            held = {"schema": dict(request.schema)} if form.json == "json_object schema" else {}
            options["response_format"] = {"type": "json_object", **held}
        options |= self._thinking[form.thinking]
        assert self._llm is not None  # preloaded
        return self._llm.stream_chat(messages, max_tokens=request.max_tokens, **options)


def _thinking_forms(thinking: str, url: str) -> Sequence[Mapping[str, Any]]:
    """The fields that switch thinking on or off: servers of open models pass `chat_template_kwargs` on to the template,
    where Qwen and GLM read `enable_thinking`, DeepSeek and Granite `thinking`; OpenAI and others take an effort."""
    if thinking == "auto":
        return ({},)
    on = thinking == "on"
    effort = {"reasoning_effort": "medium" if on else "none"}
    template = {"extra_body": {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}}
    return (effort, {}) if is_openai(url) else (template, effort, {})
