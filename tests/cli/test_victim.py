"""The bundled victim of a high limit (tests/bench/victim.c): its closes are exact, so they can be counted."""
import collections
import re
import shutil
import unittest

import support
import tap

CLOSE = re.compile(r"^(\d+) +close\((\d+)\)")
READ_LIMIT = re.compile(r"^\d+ +(?:prlimit64\(0, |u?getrlimit\()RLIMIT_NOFILE, ")


class Victim(support.Case):
    """What the victim does, seen by strace."""

    def setUp(self):
        super().setUp()
        self.strace = support.need("strace")
        # Not a failure of the victim where a container's profile refuses ptrace.
        trial = support.run(self.strace, "-o", self.path("trial"), "true")
        if trial.returncode != 0:
            raise unittest.SkipTest(f"strace cannot trace here: {trial.stderr.strip()}")

    def trace(self, limit, *arguments, prefix=()):
        """Run the victim; (figures, own closes, numbers closed by each child, reads of the limit)."""
        log = self.path("strace")
        done = support.run(
            *prefix, self.strace, "-f", "-qq", "-e", "trace=close,prlimit64,getrlimit,?ugetrlimit",
            "-e", "signal=none", "-o", log, support.helper("victim"), *arguments,
            preexec_fn=support.nofile(limit))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        closes, reads, first = collections.defaultdict(list), 0, None
        with open(log, encoding="ascii") as lines:
            for line in lines:
                first = first or line.split()[0]
                reads += bool(READ_LIMIT.match(line))
                found = CLOSE.match(line)
                if found:
                    closes[found[1]].append(int(found[2]))
        own = closes.pop(first, [])
        return dict(field.split("=") for field in done.stdout.split()), own, list(closes.values()), reads

    def test_each_command_closes_every_number_up_to_the_limit_and_nothing_else(self):
        for limit in (256, 1024):
            with self.subTest(limit=limit):
                figures, _, children, _ = self.trace(limit, "-n", "3")
                self.assertEqual((figures["max"], figures["commands"]), (str(limit), "3"))
                self.assertEqual(children, [list(range(3, limit))] * 3)

    def test_the_closes_fall_with_the_limit(self):
        high, low = (sum(map(len, self.trace(limit, "-n", "2")[2])) for limit in (1024, 256))
        self.assertEqual((high, low), (2 * 1021, 2 * 253))

    def test_the_victim_itself_closes_nothing_for_a_command(self):
        self.assertEqual(self.trace(64, "-n", "1")[1], self.trace(64, "-n", "4")[1])

    def test_the_limit_is_read_once(self):
        self.assertEqual(self.trace(64, "-n", "4")[3], 1)

    def test_keep_closes_none(self):
        figures, own, children, _ = self.trace(1024, "-n", "3", "--keep")
        self.assertEqual(own, self.trace(1024, "-n", "1", "--keep")[1])
        self.assertEqual(children, [])
        self.assertIn("keep_us", figures)
        self.assertNotIn("close_us", figures)

    def test_interleave_runs_one_of_each_in_turn(self):
        figures, _, children, _ = self.trace(256, "-n", "3", "--interleave")
        self.assertEqual(children, [list(range(3, 256))] * 3)
        ratio = float(figures["close_us"]) / float(figures["keep_us"])
        self.assertAlmostEqual(float(figures["ratio"]), ratio, delta=0.01 * ratio)

    def test_the_closes_fall_under_the_launcher(self):
        if not shutil.which(support.FDFIT):
            raise unittest.SkipTest(f"no launcher at {support.FDFIT}")
        figures, _, children, _ = self.trace(1024, "-n", "2", prefix=(support.FDFIT, "-q", "-n", "256"))
        self.assertEqual(figures["max"], "256")
        self.assertEqual(children, [list(range(3, 256))] * 2)


class Arguments(support.Case):
    """Its command, its bounds, and its errors."""

    def victim(self, *arguments):
        return support.run(support.helper("victim"), *arguments, preexec_fn=support.nofile(256))

    def test_a_given_command_is_run_with_its_arguments(self):
        mark = self.path("mark")
        done = self.victim("-n", "3", "--", "sh", "-c", 'echo "$1" >>"$0"', mark, "-k")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(mark, encoding="ascii") as file:
            self.assertEqual(file.read(), "-k\n" * 3)

    def test_seconds_end_a_long_run_but_not_before_five_commands(self):
        done = self.victim("-n", "1000000", "-s", "1", "--", "sleep", "0.3")
        self.assertIn(" commands=5 ", done.stdout)

    def test_a_command_that_fails_ends_the_run(self):
        for command, reason in (
                (["false"], "victim: false ended with status 1, 0 is expected: stopped"),
                (["sh", "-c", "kill -9 $$"], "victim: sh was ended by signal 9: stopped"),
                (["/nowhere/x"], "victim: cannot execute /nowhere/x: No such file or directory")):
            with self.subTest(command=command):
                done = self.victim("-n", "2", "--", *command)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertEqual(done.stderr.splitlines()[:1], [reason])

    def test_wrong_arguments_are_refused(self):
        for arguments in (["-n", "0"], ["-n", "3x"], ["-n", "-1"], ["-n", ""], ["-s", "99999999999999999999"],
                          ["--keep", "--interleave"], ["--nothing"]):
            with self.subTest(arguments=arguments):
                done = self.victim(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    tap.main()
