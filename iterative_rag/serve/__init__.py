"""The server: one Starlette application whose doors (page, HTTP, MCP, OpenAI) consume the typed steps of a run."""
