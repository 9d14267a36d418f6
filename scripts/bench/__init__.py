"""Measurements that are run by hand, one file a subject: `python -m scripts.bench.SUBJECT --help`."""
