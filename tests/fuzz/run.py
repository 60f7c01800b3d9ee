"""Run a fuzz target for a bounded number of inputs: run.py TARGET SEEDS. The same seed number gives the same inputs.

What libFuzzer finds new, and the input of a fault, go into a folder that is removed at the end; the input of a
fault is printed, since it is all that one needs to repeat it.
"""
import base64
import glob
import os
import subprocess
import sys
import tempfile

RUNS = 20000


def main():
    target, seeds = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="fdfit-fuzz.") as folder:
        corpus = os.path.join(folder, "corpus")
        os.mkdir(corpus)
        # Of several folders libFuzzer adds what it finds to the first; the seeds stay as they are.
        done = subprocess.run(
            [target, f"-runs={RUNS}", "-seed=1", "-max_len=8192", "-timeout=20", "-rss_limit_mb=1024", "-verbosity=1",
             f"-artifact_prefix={folder}/", corpus, seeds], stderr=subprocess.STDOUT, check=False, timeout=280)
        for path in glob.glob(os.path.join(folder, "*-*")):
            with open(path, "rb") as file:
                print(f"{os.path.basename(path)}, base64: {base64.b64encode(file.read()).decode()}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
