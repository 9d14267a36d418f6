"""Text: the one reader of numbers, dates, units, words and sentences, for English and the languages of
`languages.toml`; what may be shown on a terminal; plurals; patterns that are compiled when they are first used."""
