"""Init mode: how it ends, and with what."""
import os
import signal
import subprocess
import unittest

import init_support
import support
import tap
from init_support import InitCase, both_places, gone

DIE = support.helper("die")
FAMILY = support.helper("family")
#: Signals that end a process by default, in ranges; the others stop it or do nothing.
DEADLY = [(1, 16), (24, 27), (29, 64)]


@both_places
class Ending:
    """Mixin; the two classes made of it run."""

    def statuses(self, kind, first, last, settings=(), **options):
        """{number: raw wait status of the launcher} for children that die by `kind number`."""
        words = self.launcher.command([DIE, kind, "@"], **options)
        if settings:
            words = [support.helper("start-with"), *settings, "--", *words]
        place = ["pid1"] if self.as_pid1 else []
        popen = self.popen([support.helper("statuses"), *place, str(first), str(last), "--", *words],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            out = init_support.Lines(popen.stdout.fileno()).rest()
        except AssertionError as why:
            raise AssertionError(f"a launcher hangs: {why}") from None
        found = dict(tuple(int(word) for word in line.split()) for line in out.splitlines())
        self.assertEqual(list(found), list(range(first, last + 1)))
        return found

    def expect_codes(self, mapped, **options):
        found = self.statuses("exit", 0, 255, **options)
        wrong = {n: status for n, status in found.items() if status != mapped.get(n, n) << 8}
        self.assertEqual(wrong, {}, "code: raw status")

    def expect_end(self, argv, code, **more):
        status, _, messages = self.finish(argv, **more)
        self.assertEqual(status, code, messages)
        return messages

    def by_signal(self, number):
        """The status, as subprocess gives it, of a launcher whose workload died by a signal."""
        return 128 + number if self.as_pid1 else -number

    def test_all_256_exit_codes(self):
        self.expect_codes({})

    def test_all_256_exit_codes_with_exit_map_to_zero(self):
        self.expect_codes({143: 0}, exit_map="143:0")

    def test_all_256_exit_codes_with_exit_map_of_several(self):
        # One step only: 7 becomes 9, and that 9 does not become 0.
        self.expect_codes({143: 0, 7: 9, 9: 0, 0: 3, 255: 1}, exit_map="143:0,7:9,9:0,0:3,255:1")

    def test_exit_map_from_the_environment(self):
        env = support.clean_env(FDFIT_EXIT_MAP="143:0")
        self.expect_end([DIE, "exit", "143"], 0, env=env, environment=True)

    def test_exit_map_comes_before_death_by_signal(self):
        self.expect_end([DIE, "signal", "15"], 0, exit_map="143:0")

    def test_death_by_every_signal(self):
        for first, last in DEADLY:
            found = self.statuses("signal", first, last)
            want = {n: (128 + n) << 8 if self.as_pid1 else n for n in found}
            wrong = {n: status for n, status in found.items() if status != want[n]}
            self.assertEqual(wrong, {}, "signal: raw status")

    def test_death_by_signal_leaves_no_core(self):
        found = self.statuses("signal", 3, 8, settings=["core"])
        self.assertEqual([n for n, status in found.items() if os.WIFSIGNALED(status) and os.WCOREDUMP(status)], [])
        # Neither may a death by signal be a success.
        self.assertNotIn(0, found.values())

    def test_no_exit_code_of_the_child_is_reserved(self):
        for code in (125, 126, 127):
            messages = self.expect_end([DIE, "exit", str(code)], code)
            self.assertNotIn("not found", messages)

    def test_command_not_found(self):
        messages = self.expect_end([self.path("no-such-command")], 127)
        self.assertIn("no-such-command", messages)

    def test_command_not_found_on_path(self):
        messages = self.expect_end(["no-such-command-at-all"], 127)
        self.assertIn("no-such-command-at-all", messages)

    def test_command_not_executable(self):
        messages = self.expect_end([self.write("plain-file", "echo no\n")], 126)
        self.assertIn("plain-file", messages)

    def test_command_is_a_folder(self):
        os.mkdir(self.path("a-folder"))
        messages = self.expect_end([self.path("a-folder")], 126)
        self.assertIn("a-folder", messages)

    def test_grace_then_kill(self):
        run = self.start_counting(grace="200ms")
        run.kill(signal.SIGTERM)
        self.assertEqual(run.out.line("TERM").split()[0], "15")
        self.assertEqual(run.end(), self.by_signal(9), run.messages())
        self.assertIn("KILL", run.messages())

    def test_grace_counts_from_the_rewrite_of_term(self):
        run = self.start_counting(grace="200ms", rewrite="TERM:INT")
        run.kill(signal.SIGTERM)
        self.assertEqual(run.out.line("INT").split()[0], "2")
        self.assertEqual(run.end(), self.by_signal(9), run.messages())

    def test_grace_is_not_started_by_other_signals(self):
        run = self.start_counting(last=signal.SIGUSR2, grace="1ms")
        # Many round trips, each of them alive: together far longer than the grace.
        for _ in range(500):
            run.kill(signal.SIGUSR1)
            self.assertEqual(run.out.line("USR1").split()[0], "10")
        run.kill(signal.SIGUSR2)
        self.assertEqual(run.end(), 0, run.messages())

    def test_grace_not_needed_says_nothing_of_kill(self):
        run = self.start_counting(last=signal.SIGTERM, grace="10m")
        run.kill(signal.SIGTERM)
        self.assertEqual(run.end(), 0)
        self.assertNotIn("KILL", run.messages())

    def test_term_without_grace_never_kills(self):
        run = self.start_counting(last=signal.SIGUSR2)
        run.kill(signal.SIGTERM)
        self.assertEqual(run.out.line("TERM").split()[0], "15")
        run.kill(signal.SIGUSR2)
        self.assertEqual(run.end(), 0, run.messages())

    def test_wait_all_sends_term_and_waits(self):
        for setting in ("same", "group", "session"):
            status, out, messages = self.finish([FAMILY, setting, "leave=5"], wait_all=True, grace="10m")
            self.assertEqual(status, 5, messages)
            self.assertEqual(out.splitlines()[-1], "child 15", setting)

    def test_wait_all_kills_a_child_that_ignores_term(self):
        run = self.start([FAMILY, "stubborn", "leave=5"], wait_all=True, grace="200ms")
        out = run.out.rest()  # ends when the stubborn child, the last writer, is dead
        self.assertEqual(out.splitlines()[-1], "child 15")
        self.assertEqual(run.end(), 5, run.messages())

    def test_without_wait_all_the_end_is_at_once(self):
        run = self.start([FAMILY, "session", "stubborn", "leave=5"])
        child = run.out.line("the child")
        self.assertTrue(child.startswith("child "), child)
        self.assertEqual(run.end(), 5, run.messages())
        if self.as_pid1:
            self.assertNotIn("child", run.out.rest())  # the kernel ended it by KILL
        else:
            self.assertFalse(gone(int(child.split()[1])), "a subreaper must leave the others")


class Refusing(InitCase):
    """A setting that is wrong starts nothing. Only where the launcher has the setting."""

    def expect_refusal(self, **options):
        status, out, messages = self.finish(["sh", "-c", "echo started"], **options)
        self.assertEqual((status, out), (125, ""), messages)
        self.assertTrue(messages.strip(), "a refusal must say why")

    def test_rewrite_with_one_bad_pair(self):
        if self.launcher.name != "fdfit":
            raise unittest.SkipTest(f"{self.launcher.name} parses no list of names")
        for bad in ("TERM:INT,BOGUS:1", "TERM:INT,HUP", "TERM:99", "TERM:INT,", "99:1"):
            self.expect_refusal(rewrite=bad)

    def test_exit_map_with_one_bad_pair(self):
        if self.launcher.name != "fdfit":
            raise unittest.SkipTest(f"{self.launcher.name} parses no list of pairs")
        for bad in ("143:0,x:1", "143", "256:0", "1:256", "143:0,", "-1:0"):
            self.expect_refusal(exit_map=bad)


class Naming(InitCase):
    """The other ways into init mode."""

    def setUp(self):
        super().setUp()
        if self.launcher.name != "fdfit":
            raise unittest.SkipTest(f"{self.launcher.name} has one way to start")

    def expect_init(self, argv, env=None):
        """The workload is a child of the launcher, not the launcher itself."""
        done = support.run(*argv, "--", "sh", "-c", "echo $$ $PPID", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        own, parent = done.stdout.split()
        self.assertNotEqual(int(parent), os.getpid())
        self.assertNotEqual(own, parent)

    def test_started_under_the_name_fdfit_init(self):
        os.symlink(os.path.abspath(self.launcher.path), self.path("fdfit-init"))
        self.expect_init([self.path("fdfit-init")])

    def test_variable(self):
        self.expect_init([self.launcher.path], support.clean_env(FDFIT_INIT="yes"))

    def test_variables_are_not_passed_on(self):
        env = support.clean_env(FDFIT_EXIT_MAP="143:0", FDFIT_GRACE="5s", FDFIT_PORT="tcp://10.0.0.1:80")
        status, out, messages = self.finish(["env"], env=env)
        self.assertEqual(status, 0, messages)
        left = [line for line in out.splitlines() if line.startswith("FDFIT_")]
        self.assertEqual(left, ["FDFIT_PORT=tcp://10.0.0.1:80"])


if __name__ == "__main__":
    tap.main()
