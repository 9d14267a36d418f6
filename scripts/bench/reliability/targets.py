"""The list of targets: what each is called, its aim, and what runs it."""

from __future__ import annotations

from scripts.bench.reliability import (
    cached,
    damage,
    dialects,
    faults,
    hostile,
    kills,
    load,
    outside,
    refusals,
    sharing,
    soak,
)
from scripts.bench.reliability.bench import Target

TARGETS = (
    Target("cross-talk", "every question its own answer; 128 calls reach the server at once", load.cross_talk),
    Target("latency", "p95 at most 1.10 times the ideal, processor time taken out", load.latency),
    Target("memory", "at most 5 % growth, all right", load.memory),
    Target("some-faults", "30 % of calls answered 500 or 503: all right", faults.some_faults),
    Target("all-faults", "a typed error or incomplete; never an answer, never an abstention", faults.all_faults),
    Target("hangs", "every role ends within its limit, never as an abstention", faults.hangs),
    Target("broken-json", "20 % of replies broken: at least 97 % right", faults.broken_json),
    Target("cut-streams", "30 % of replies cut: none wrong, at least 97 % right", faults.cut_streams),
    Target("endless-replies", "ends within its limit, at most 600 MB", faults.endless_replies),
    Target("dialects", "every reply answers the README's question, every error is told", dialects.dialects),
    Target("failed-reads", "incomplete, exit 6, the document named; evaluate: a fault", faults.failed_reads),
    Target("index-kills", "50 kills: no point differs from an uninterrupted index", kills.index_kills, 1600),
    Target("evaluate-kills", "20 kills: none run again, lost or scored otherwise", kills.evaluate_kills, 1600),
    Target(
        "system-refusals", "0 corpora lost, each told in a sentence, all gone on with", refusals.system_refusals, 3000
    ),
    Target("corpus-damage", "no panic, one sentence each, mended by index", damage.corpus_damage, 3000),
    Target("full-disk", "said to be full, never damaged; answers while full, and all works after", kills.full_disk),
    Target("cache-damage", "10,000 flips never change an answer nor an exit code", cached.cache_damage),
    Target("second-writer", "one sentence, exit 4; the first goes through", sharing.second_writer),
    Target("readers", "64 open at once during writing: none fails", sharing.readers),
    Target("hostile-files", "0 crashed, each read or skipped with its reason", hostile.hostile_files),
    Target("empty-corpus", "one sentence, exit 3 or 4, never an answer", hostile.empty_corpus),
    Target("planted-texts", "no harm; an answer that was swayed shows by what", hostile.planted_instructions),
    Target("markup", "nothing planted becomes an element, an attribute or an address", hostile.markup_in_reports),
    Target("private-addresses", "no request arrives", outside.private_addresses),
    Target("secrets", "no key in output, logs, traces, caches or reports", outside.secrets),
    Target("planted-cache", "nothing runs, nothing outside the cache is touched", cached.planted_cache),
    Target("hostile-folder", "the thief receives nothing, and the user is told", outside.hostile_folder),
    Target("traversal", "nothing outside is read, written or removed", outside.traversal),
)
SOAK = Target("soak", "0 exceptions, 0 refusals, 0 stale answers, every quote fits", soak.soak)
