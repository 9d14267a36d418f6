"""OpenAI's chat completions: the corpora as models of programs that speak that protocol."""
