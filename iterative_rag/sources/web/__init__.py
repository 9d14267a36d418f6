"""Pages of the web: public hosts only, within limits, as Markdown files that stay."""
