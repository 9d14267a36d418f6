"""What chat programs ask of a model besides the user's questions: a title for the chat, tags, follow-up questions.

Open WebUI sends such prompts after each answer. None of them is a question about the corpus: they are answered from
the conversation that they contain, without a search. They are told by the key of the JSON object that they ask for.
"""

from __future__ import annotations

import json
import re

from iterative_rag.text.control_characters import one_line

_TASK = re.compile(r"\s*### Task:\s", re.IGNORECASE)
_HISTORY = re.compile(r"<chat_history>(?P<history>.*)</chat_history>", re.DOTALL)
# The keys of what is asked for. The examples of a prompt use no other.
_KEYS = re.compile(r"""\{\s*["'](?P<key>title|tags|follow_ups|queries|text|prompt)["']\s*:""")
_USER = re.compile(r"^USER:[ \t]*(?P<text>.*?)(?=^ASSISTANT:|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_QUOTED_QUESTION = re.compile(r"<user_query>(?P<query>.*?)</user_query>", re.DOTALL)
_EMOJI = "Your task is to reflect the speaker's likely facial expression through a fitting emoji"
_TOOLS = "Your task is to choose and return the correct tool(s) from the list of available tools"
_TITLE_WORDS, _TITLE_CHARS = 8, 60


def task_reply(prompt: str) -> str | None:
    """The reply to a prompt of a chat program; None for a question of the user."""
    if prompt.lstrip().startswith(_EMOJI):
        return "🙂"
    if _TOOLS in prompt:
        return json.dumps({"tool_calls": []})
    if not _TASK.match(prompt):
        return None
    asked = _KEYS.search(prompt)
    if asked is None:
        return None
    match asked["key"]:
        case "title":
            return json.dumps({"title": _title(prompt)}, ensure_ascii=False)
        case "tags":
            return json.dumps({"tags": ["General"]})
        case "follow_ups":
            return json.dumps({"follow_ups": []})
        case "queries":
            return json.dumps({"queries": []})
        case "prompt":
            return json.dumps({"prompt": ""})
    return json.dumps({"text": ""})


def question_within(prompt: str) -> str:
    """The user's question, also where a chat program has put it into a prompt about documents of its own."""
    quoted = _QUOTED_QUESTION.search(prompt) if _TASK.match(prompt) else None
    return quoted["query"].strip() if quoted else prompt


def _title(prompt: str) -> str:
    """The first words that the user said."""
    history = _HISTORY.search(prompt)
    said = _USER.search(history["history"]) if history else None
    words = one_line(said["text"]).split() if said else []
    title = " ".join(words[:_TITLE_WORDS])[:_TITLE_CHARS].rstrip(" ,;:")
    return title + ("…" if len(words) > _TITLE_WORDS else "") or "Question"
