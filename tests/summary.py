"""Count the test cases of meson's logs, name what failed and what was skipped, and close with one line of counts.

    summary.py BUILD|NAME.tap...       exits 1 when a case failed, a test ended badly, or a log is missing

A file of TAP is what a long run left, one that meson does not start.

Skips are printed with their reasons. With FDFIT_EXPECTED_SKIPS naming a file, a skip whose name is not listed
there (one a line, '#' comments) counts as a failure.
"""
import json
import os
import re
import sys

TAP = re.compile(r"^(not )?ok\b *\d* *-? *(.*?)(?: # (SKIP|TODO)\b *(.*))?$", re.I)


class Counts:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []

    def take_tap(self, test, line):
        match = TAP.match(line)
        if not match:
            return 0
        name = f"{test}: {match[2]}"
        if (match[3] or "").upper() == "SKIP":
            self.skipped.append((name, match[4]))
        elif match[1]:
            self.failed.append(name)
        else:
            self.passed += 1
        return 1

    def take_test(self, folder, entry):
        name = f"{os.path.basename(folder)}/{entry['name']}"
        lines = (entry.get("stdout") or "").splitlines()
        is_tap = any(re.match(r"^1\.\.\d+", line) for line in lines)
        seen = sum(self.take_tap(name, line) for line in lines) if is_tap else 0
        bad = entry["result"] in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT")
        if bad and not any(f.startswith(name + ": ") for f in self.failed):
            self.failed.append(f"{name}: {entry['result']}")
        elif entry["result"] == "SKIP" and not seen:
            self.skipped.append((name, "the whole test"))
        elif not seen and not bad:
            self.passed += 1


def read(folder, counts):
    path = os.path.join(folder, "meson-logs", "testlog.json")
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            entries = [json.loads(line) for line in log]
    except OSError as error:
        counts.failed.append(f"{path}: {error.strerror}")
        return
    for entry in entries:
        counts.take_test(folder, entry)


def read_tap(path, counts):
    """A long run that was cut off has no plan at its end: that is a failure, whatever went well before."""
    name = f"long/{os.path.basename(path)[:-len('.tap')]}"
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as error:
        counts.failed.append(f"{path}: {error.strerror}")
        return
    seen = sum(counts.take_tap(name, line) for line in lines)
    plans = [int(line[3:]) for line in lines if re.fullmatch(r"1\.\.\d+", line)]
    if plans != [seen]:
        counts.failed.append(f"{name}: {seen} cases, but the plan says {plans or 'nothing: it was cut off'}")


def refuse_unexpected(counts):
    path = os.environ.get("FDFIT_EXPECTED_SKIPS")
    if not path:
        return
    with open(path, encoding="utf-8") as lines:
        expected = [line.split("#")[0].strip() for line in lines]
    for name, reason in counts.skipped:
        if name.partition("/")[2] not in expected:
            counts.failed.append(f"{name}: skipped, which is not expected here ({reason})")


def main():
    counts = Counts()
    for path in sys.argv[1:]:
        (read_tap if path.endswith(".tap") else read)(path, counts)
    for name, reason in counts.skipped:
        print(f"skipped  {name} ({reason})")
    refuse_unexpected(counts)
    for name in counts.failed:
        print(f"FAILED   {name}")
    print(f"{counts.passed} passed, {len(counts.failed)} failed, {len(counts.skipped)} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
