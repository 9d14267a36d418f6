"""Prompts that chat programs send by themselves, as Open WebUI words them, start no search."""

from __future__ import annotations

import json

import pytest

from fakes.running_server import CORPUS, RunningServer
from iterative_rag.serve.openai_door.chat_request import Message, earlier_of_messages, question_within, task_reply

HISTORY = """<chat_history>
USER: Who was the mother of the 15th first lady of the United States?
ASSISTANT: Jane Ann Elliott Buchanan Lane [1].
</chat_history>"""
TITLE = f"""### Task:
Generate a concise title summarizing the chat history.
### Output:
JSON format: {{ "title": "your concise title here" }}
### Examples:
- {{ "title": "Stock Trends" }},
### Chat History:
{HISTORY}"""
OTHERS = {
    "tags": '### Task:\nGenerate 1-3 broad tags.\n### Output:\nJSON format: { "tags": ["tag1", "tag2", "tag3"] }\n',
    "follow_ups": '### Task:\nSuggest 3-5 follow-up questions.\nJSON format: { "follow_ups": ["Question 1?"] }\n',
    "queries": '### Task:\nAnalyze the chat history.\n```json\n{\n  "queries": ["query1", "query2"]\n}\n```\n',
    "text": '### Task:\nYou are an autocompletion system.\n- Respond only in JSON format: `{ "text": "<more>" }`.\n',
    "prompt": '### Task:\nGenerate a detailed prompt for am image.\n{\n    "prompt": "Your description."\n}\n',
}


def said(role: str, text: str) -> Message:
    return Message.model_validate({"role": role, "content": text})


def test_a_title_is_made_of_the_first_question() -> None:
    assert json.loads(task_reply(TITLE) or "") == {"title": "Who was the mother of the 15th first lady of the U…"}


@pytest.mark.parametrize("key", OTHERS)
def test_a_task_gets_the_object_that_it_asks_for(key: str) -> None:
    reply = json.loads(task_reply(OTHERS[key] + HISTORY) or "")
    assert list(reply) == [key]


@pytest.mark.parametrize(
    "question",
    [
        "Who was the mother of Harriet Lane?",
        'What does { "title": "x" } mean?',
        "### Task: who built it?",
        "Generate a title for the chat history?",
    ],
)
def test_a_question_is_no_task(question: str) -> None:
    assert task_reply(question) is None
    assert question_within(question) == question


@pytest.mark.parametrize(
    "text", ["<details " * 100_000, "<user_query>" * 80_000, "<chat_history>" * 70_000, "{ " * 500_000, "**" * 400_000]
)
def test_what_a_client_makes_up_is_read_in_no_time(text: str) -> None:
    """Each would take a pattern that looks further at every beginning minutes: the test would not end."""
    messages = (said("user", text), said("assistant", text))
    earlier = earlier_of_messages(messages * 20)
    assert earlier
    assert len(earlier.exchanges) == 20
    assert task_reply(f"### Task:\n{text}") is None
    assert question_within(f"### Task:\n{text}")


def test_a_task_starts_no_run(served: RunningServer) -> None:
    body = {"model": f"iterative-rag:{CORPUS}", "stream": False, "messages": [{"role": "user", "content": TITLE}]}
    with served.client() as client:
        whole = client.post("/v1/chat/completions", json=body).json()
        streamed = client.post("/v1/chat/completions", json={**body, "stream": True}).text
    assert json.loads(whole["choices"][0]["message"]["content"])["title"].startswith("Who was the mother")
    assert streamed.rstrip().endswith("data: [DONE]")
    assert served.services.runs.all() == []
