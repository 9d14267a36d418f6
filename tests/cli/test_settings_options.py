"""Options that are settings: declared once, and given to a command as its settings."""

from __future__ import annotations

import inspect

from iterative_rag.cli.ask import ask
from iterative_rag.cli.chat import chat
from iterative_rag.cli.options import takes_settings
from iterative_rag.cli.serve import mcp, serve
from iterative_rag.settings import Settings


def test_every_shared_option_is_a_setting_of_its_name() -> None:
    given: list[Settings] = []

    @takes_settings()
    def command(*, settings: Settings) -> None:
        given.append(settings)

    names = set(inspect.signature(command).parameters)
    assert names <= set(Settings.model_fields)
    command(**dict.fromkeys(names) | {"max_hops": 2, "guess": True, "language": "en"})
    assert (given[0].max_hops, given[0].guess, given[0].language) == (2, True, "en")


def test_a_command_takes_no_setting_beside_its_options() -> None:
    for command in (ask, chat, mcp, serve):
        parameters = inspect.signature(command).parameters
        assert "settings" not in parameters
        assert "max_hops" in parameters
    assert list(inspect.signature(ask).parameters)[:3] == ["question", "corpus", "within_title"]
    assert "language" not in inspect.signature(mcp).parameters
