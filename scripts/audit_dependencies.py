"""Looks up known vulnerabilities of the installed packages with pip-audit, and says which could not be looked up.

    python -m scripts.audit_dependencies

Exit code 0: none is known; 1: at least one is; 2: nothing could be looked up (no access to the advisories).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

# Not on any index: the project itself.
OWN = {"iterative-rag"}


def main() -> int:
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        packages = [one for one in json.loads(done.stdout)["dependencies"] if one["name"] not in OWN]
    except (ValueError, KeyError):
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        print(f"The packages were not audited: {reason}", file=sys.stderr)
        return 2
    return report(packages)


def report(packages: list[dict[str, Any]]) -> int:
    looked_up = [one for one in packages if "skip_reason" not in one]
    for one in looked_up:
        for hole in one["vulns"]:
            fixed = ", ".join(hole["fix_versions"]) or "no version yet"
            print(f"{one['name']} {one['version']}: {hole['id']}, fixed in {fixed}")
    if not looked_up:
        print(
            f"None of the {len(packages)} packages was audited: the advisories cannot be had from here. "
            "Run it again where the package index can be reached.",
            file=sys.stderr,
        )
        return 2
    left_out = sorted(one["name"] for one in packages if "skip_reason" in one)
    missing = f"; not found: {', '.join(left_out)}" if left_out else ""
    print(f"Audited {len(looked_up)} of {len(packages)} packages{missing}.")
    return int(any(one["vulns"] for one in looked_up))


if __name__ == "__main__":
    raise SystemExit(main())
