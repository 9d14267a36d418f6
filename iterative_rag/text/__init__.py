"""What the package knows about text: numbers, dates, units, words and sentences of English and the languages in
`languages.toml`; characters that are safe to print; plurals; lazily compiled patterns."""
