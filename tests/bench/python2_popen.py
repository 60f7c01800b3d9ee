"""Time Python 2's Popen with and without close_fds, in turn: python2_popen.py RUNS SECONDS COMMAND [ARG...]

demo.py starts it with a Python 2, under the limit that is to be measured. After SECONDS no further pair is
started, but there are at least 5 (or RUNS). Prints one line of JSON: the limit that subprocess cached at
its import (MAXFD), how many pairs were run, and the two medians in microseconds. Python 2 has no monotonic
clock; a median outlives a step of the other one.
"""
import json
import subprocess
import sys
import time

LEAST_PAIRS = 5


def run(command, close_fds):
    start = time.time()
    status = subprocess.Popen(command, close_fds=close_fds).wait()
    end = time.time()
    if status != 0:
        sys.exit("%s ended with status %d, 0 is expected" % (command[0], status))
    return (end - start) * 1e6


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def main():
    runs, seconds, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    closing, keeping = [], []
    deadline = time.time() + seconds
    while len(closing) < runs and (len(closing) < LEAST_PAIRS or time.time() < deadline):
        closing.append(run(command, True))
        keeping.append(run(command, False))
    print(json.dumps({"limit": subprocess.MAXFD, "runs": len(closing),
                      "close_us": median(closing), "keep_us": median(keeping)}))


if __name__ == "__main__":
    main()
