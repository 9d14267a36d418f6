"""The one reader of numbers, dates, units, words and sentences, for English and the languages of `languages.toml`."""
