"""The targets of scripts/bench_reliability.py, one file a group, and the stand-ins that they run against."""
