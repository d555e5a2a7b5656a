"""``python -m tests.peers``: fetches the source distributions of peers, runs their tests against Certus."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tests.peers.suites import SUITES, Suite

ROOT = Path(__file__).parents[2]
MOST = 3600  # seconds that a suite may take: seqeval runs the script of CoNLL 10,000 times


@dataclass(frozen=True)
class Outcome:
    """What running a suite came to."""

    name: str
    version: str = ""
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # tests, and why they do not apply
    reason: str = ""


def fetch(suite: Suite, folder: Path) -> Path:
    """Download and unpack a source distribution of the version that is installed; return where it is."""
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "show", suite.name], capture_output=True, check=True, text=True
    )
    version = next(line.split()[1] for line in shown.stdout.splitlines() if line.startswith("Version:"))
    place = folder / f"{suite.name}-{version}"
    if not place.exists():
        wanted = [f"{suite.name}=={version}", "--no-deps", "--no-binary", suite.name, "-d", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wanted], check=True)
        pattern = f"{suite.name.replace('-', '[-_]')}-{version}.tar.gz"
        with tarfile.open(next(folder.glob(pattern))) as archive:
            archive.extractall(place, filter="data")
    return next(path for path in place.iterdir() if path.is_dir())


def run(suite: Suite, folder: Path) -> Outcome:
    """Run the tests of a suite with Certus in the place of the peer."""
    if suite.shim is None:
        return Outcome(suite.name, reason=suite.reason)
    sources = fetch(suite, folder)
    report = folder / f"{suite.name}.xml"
    place = sources / suite.folder
    command = [sys.executable, "-m", "pytest", "-q", "-p", f"shims.{suite.shim}", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, f"--rootdir={place}", f"--junitxml={report}", *suite.tests]
    # Not the root of this repository, whose tests would hide those of the peer.
    paths = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
    with open(folder / f"{suite.name}.log", "w", encoding="utf-8") as log:
        environment = {**os.environ, "PYTHONPATH": paths}
        report.unlink(missing_ok=True)
        try:
            subprocess.run(
                command, cwd=place, stdout=log, stderr=log, check=False, env=environment, timeout=MOST
            )
        except subprocess.TimeoutExpired:
            return Outcome(suite.name, failed=[f"the suite, which took more than {MOST} seconds"])
    return read_report(suite, report, sources.parent.name.rpartition("-")[2])


def read_report(suite: Suite, report: Path, version: str) -> Outcome:
    """Sort tests into those that passed, those that failed, and those that do not apply."""
    outcome = Outcome(suite.name, version)
    passed = 0
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        bad = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped")
        reason = next((why for part, why in suite.left_out.items() if part in name), None)
        if skipped is not None:
            outcome.left_out[name] = f"skipped by the suite: {skipped.get('message')}"
        elif bad and reason is not None:
            outcome.left_out[name] = reason
        elif bad:
            outcome.failed.append(name)
        else:
            passed += 1
    return Outcome(suite.name, version, passed, outcome.failed, outcome.left_out)


def main() -> int:
    """Run the suites, print what each came to, and leave a report; return 1 where a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("peers", nargs="*", help="some of the peers; all by default")
    chosen = parser.parse_args().peers
    folder = ROOT / "build" / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for suite in SUITES:
        if chosen and suite.name not in chosen:
            continue
        outcome = run(suite, folder)
        outcomes.append(outcome)
        if outcome.reason:
            print(f"{suite.name:18} not run: {outcome.reason}", flush=True)
            continue
        print(
            f"{suite.name:18} {outcome.passed:>5} passed  {len(outcome.failed):>3} failed  "
            f"{len(outcome.left_out):>3} not applicable",
            flush=True,
        )
        for name in outcome.failed:
            print(f"  failed: {name}")
        for why in sorted(set(outcome.left_out.values())):
            print(f"  not applicable: {why} ({sum(w == why for w in outcome.left_out.values())})")
    report = {"date": time.strftime("%Y-%m-%d"), "peers": [asdict(outcome) for outcome in outcomes]}
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
