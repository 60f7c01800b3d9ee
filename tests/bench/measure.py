#!/usr/bin/env python3
"""What a sample of the meter costs beside plain listings and lsof: measure.py [--rounds N] [--json] MEASURE

The timing itself is measure.c's. A sample is 1; compare ratios, never times of different runs or machines.
"""
import argparse
import json
import resource
import shutil
import subprocess
import sys

from report import die, need_program, table

#: (processes, descriptors of each, rounds as a part of --rounds)
SIZES = [(10, 10, 1), (100, 10, 1), (1000, 10, 5), (1, 10, 1), (1, 1000, 1), (1, 19000, 1)]

WAYS = ["sample", "first", "count", "halving", "listing", "lsof"]


def measure(program, lsof, processes, descriptors, rounds):
    """{way: microseconds} of one size."""
    argv = [program, "--rounds", str(max(rounds, 10)), *(["--lsof", lsof] if lsof else []),
            str(processes), str(descriptors)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        die(f"no result: {program} ended with status {done.returncode}")
    return {way: float(us) for way, us in (line.split("\t") for line in done.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description="What a sample costs beside listings and lsof.")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of each way (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("measure", help="the built measure.c")
    arguments = parser.parse_args()
    program, lsof = need_program(arguments.measure, "measure"), shutil.which("lsof")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    results, absent = [], [] if lsof else ["lsof is not installed"]
    for processes, descriptors, part in SIZES:
        if hard not in (-1, resource.RLIM_INFINITY) and descriptors + 100 > hard:
            absent.append(f"{descriptors} descriptors: the hard limit here is {hard}")
            continue
        found = measure(program, lsof, processes, descriptors, arguments.rounds // part)
        results.append({"processes": processes, "descriptors": descriptors, "us": found,
                        "listing_to_halving": round(found["listing"] / found["halving"], 1)})
    if arguments.json:
        json.dump({"rounds": arguments.rounds, "sizes": results, "absent": absent}, sys.stdout, indent=2)
        print()
        return
    print("Cost of one look at all processes: µs (times a sample of the meter), medians of interleaved rounds:")
    header = ["processes x descriptors", "sample", "first sample", "highest: count", "halving", "listing", "lsof",
              "listing / halving"]
    rows = []
    for result in results:
        us = result["us"]
        cells = [f"{us[way]:.0f} ({us[way] / us['sample']:.1f})" if way in us else "-" for way in WAYS]
        rows.append([f"{result['processes']} x {result['descriptors']}", *cells, result["listing_to_halving"]])
    print(table(header, rows))
    for line in absent:
        print(f"Not measured: {line}")


if __name__ == "__main__":
    main()
