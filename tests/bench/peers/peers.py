#!/usr/bin/env python3
"""Run the init tests against fdfit and other small inits, and print a table of which pass.

Usage: peers.py [--json] [--why] [--launcher NAME]... [--patience SECONDS] [--subject NAME]...

A launcher that is not installed is left out, and fdfit too when FDFIT names no program. In the table "ok" passed, "FAIL"
failed, "-" is something that the launcher has no option for, "skip" a test that could not run here. --why adds the reason
of each. Only the absence of every launcher, or a test program that broke off, is an error: this compares, it does not judge.
"""
import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CLI = os.path.join(os.path.dirname(os.path.dirname(HERE)), "cli")
sys.path.insert(0, CLI)

import init_support  # noqa: E402  (found by the path above)
import support  # noqa: E402

SUBJECTS = ("exit", "signals", "reap", "env", "tty")
RESULT = re.compile(r"^(ok|not ok) \d+ - (\S+)(?: # SKIP (.*))?$")
#: How init_support words it when a launcher has no such option.
LACKS = re.compile(r"has no |has one way|parses no ")
#: A diagnosis may hold thousands of process numbers: this much of it is shown.
WHY_LENGTH = 300


def installed(name):
    path = init_support.LAUNCHERS[name]().path
    return subprocess.run(["sh", "-c", 'command -v "$1"', "sh", path], stdout=subprocess.DEVNULL, check=False).returncode == 0


def parse(tap):
    """{test: {result, why}} from one program's TAP; the last line of a failure's diagnosis that says what is kept."""
    found, why = {}, ""
    for line in tap.splitlines():
        match = RESULT.match(line)
        if not match:
            said = re.match(r"# (?:\w+(?:Error|Expired)): (.*)", line)
            why = said.group(1)[:WHY_LENGTH] if said else why
            continue
        ok, test, skipped = match.groups()
        if skipped:
            found[test] = {"result": "-" if LACKS.search(skipped) else "skip", "why": skipped}
        elif ok == "ok":
            found[test] = {"result": "ok", "why": ""}
        else:
            found[test] = {"result": "FAIL", "why": why}
        why = ""
    return found


def run_subject(name, subject, patience):
    """The results of one test program against one launcher; a SystemExit when it broke off."""
    env = dict(os.environ, FDFIT_TEST_LAUNCHER=name, FDFIT_TEST_PATIENCE=str(patience))
    done = subprocess.run([sys.executable, os.path.join(CLI, f"test_init_{subject}.py")], env=env, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    planned = re.match(r"1\.\.(\d+)", done.stdout)
    found = parse(done.stdout)
    if not planned or int(planned.group(1)) != len(found):
        sys.exit(f"peers: test_init_{subject}.py broke off against {name} (status {done.returncode}): {done.stderr.strip()}")
    return {f"{subject}: {test}": result for test, result in found.items()}


def print_table(results, why):
    names = list(results)
    tests = [test for test in next(iter(results.values()))]
    width = max(len(test) for test in tests)
    print(" ".join([" " * width] + [f"{name:>9}" for name in names]))
    for test in tests:
        print(" ".join([test.ljust(width)] + [f"{results[name][test]['result']:>9}" for name in names]).rstrip())
        for name in names if why else ():
            if results[name][test]["why"]:
                print(f"    {name}: {results[name][test]['why']}")
    print()
    for word in ("ok", "FAIL", "-", "skip"):
        counts = [sum(found["result"] == word for found in results[name].values()) for name in names]
        print(" ".join([word.ljust(width)] + [f"{count:>9}" for count in counts]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print an object of launchers, tests and results")
    parser.add_argument("--why", action="store_true", help="add the reason below each test that did not pass")
    parser.add_argument("--launcher", action="append", choices=init_support.LAUNCHERS, help="only this one")
    parser.add_argument("--subject", action="append", choices=SUBJECTS, help="only these tests")
    parser.add_argument("--patience", type=float, default=5, help="seconds to wait for what does not come")
    options = parser.parse_args()
    if not os.access(support.helper("sigcount"), os.X_OK):
        sys.exit("peers: FDFIT_TEST_HELPERS names no folder of built helpers: build tests/cli/helpers and set it")
    names = [name for name in options.launcher or init_support.LAUNCHERS if installed(name)]
    if not names:
        sys.exit("peers: no launcher is installed: set FDFIT, or install tini, dumb-init or catatonit")
    results = {}
    for name in names:
        results[name] = {}
        for subject in options.subject or SUBJECTS:
            results[name].update(run_subject(name, subject, options.patience))
    if options.json:
        json.dump(results, sys.stdout, indent=2)
        print()
    else:
        print_table(results, options.why)


if __name__ == "__main__":
    main()
