"""Prompts that chat programs send by themselves, as Open WebUI words them, start no search."""

from __future__ import annotations

import pytest

from fakes.running_server import CORPUS, RunningServer
from iterative_rag.serve.openai_door.chat_request import Message, earlier_of_messages, question_within

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
OTHERS = (
    '### Task:\nGenerate 1-3 broad tags.\n### Output:\nJSON format: { "tags": ["tag1", "tag2", "tag3"] }\n',
    '### Task:\nSuggest 3-5 follow-up questions.\nJSON format: { "follow_ups": ["Question 1?"] }\n',
)


def said(role: str, text: str) -> Message:
    return Message.model_validate({"role": role, "content": text})


@pytest.mark.parametrize("prompt", [TITLE, *OTHERS])
def test_a_task_holds_no_question(prompt: str) -> None:
    assert question_within(prompt) == ""


def test_a_question_within_a_prompt_is_taken_out() -> None:
    assert question_within("### Task:\nRespond.\n<user_query>\nWho built it?\n</user_query>\n") == "Who built it?"


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
    assert question_within(f"### Task:\n{text}") == ""


def test_a_task_starts_no_run(served: RunningServer) -> None:
    body = {"model": f"iterative-rag:{CORPUS}", "messages": [{"role": "user", "content": TITLE}]}
    with served.client() as client:
        whole = client.post("/v1/chat/completions", json=body).json()
    assert whole["choices"][0]["message"]["content"] == "{}"
    assert served.services.runs.all() == []
