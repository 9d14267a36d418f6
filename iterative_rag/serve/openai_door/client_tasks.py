"""What chat programs ask of a model besides the user's questions: a title for the chat, tags, follow-up questions.

Open WebUI sends such prompts after each answer. None of them is a question about the corpus: they are answered from
the conversation that they contain, without a search. They are told by the key of the JSON object that they ask for.
"""

from __future__ import annotations

import json
import re

from iterative_rag.text.control_characters import one_line

_TASK = re.compile(r"\s*### Task:\s", re.IGNORECASE)
# The keys of what is asked for. The examples of a prompt use no other.
_KEYS = re.compile(r"""\{\s*["'](?P<key>title|tags|follow_ups|queries|text|prompt)["']\s*:""")
_HISTORY, _SAID, _REPLIED = "<chat_history>", "USER:", "\nASSISTANT:"
_QUERY = "<user_query>", "</user_query>"
# The instructions stand at the beginning; what follows may be as long as a chat.
_MOST_READ = 20_000
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
    asked = _KEYS.search(prompt[:_MOST_READ])
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
    if not _TASK.match(prompt):
        return prompt
    _, begun, rest = prompt.partition(_QUERY[0])
    query, ended, _ = rest.partition(_QUERY[1])
    return query.strip() if begun and ended else prompt


def _title(prompt: str) -> str:
    """The first words that the user said."""
    said = prompt.partition(_HISTORY)[2].partition(_SAID)[2].partition(_REPLIED)[0]
    words = one_line(said[:_MOST_READ]).split()
    title = " ".join(words[:_TITLE_WORDS])[:_TITLE_CHARS].rstrip(" ,;:")
    return title + ("…" if len(words) > _TITLE_WORDS else "") or "Question"
