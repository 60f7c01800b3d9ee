"""Init mode: nothing stays a zombie, and no child's end is missed."""
import os
import re
import signal

import init_support
import support
import tap
from init_support import InitCase, both_places, children, gone, run_state
from support import wait_for

ORPHANS = support.helper("orphans")
STORM = support.helper("storm")


def zombies_of(pid):
    return [child for child in children(pid) if run_state(child) == "Z"]


@both_places
class Reaping:
    """Mixin; the two classes made of it run."""

    def expect_only(self, run, child):
        wait_for(lambda: children(run.pid) == [child], "all orphans to be reaped", init_support.PATIENCE)
        self.assertEqual(self.strays(), [], "orphans that the launcher did not take in")

    def test_ten_thousand_orphans(self):
        run = self.start([ORPHANS, "10000"], subreaper=True)
        self.assertEqual(run.out.line("10,000 orphans"), "made 10000")
        self.expect_only(run, run.child)
        run.popen.stdin.close()
        self.assertEqual(run.end(), 0, run.messages())

    def test_zombies_are_not_kept_until_the_end(self):
        run = self.start([ORPHANS, "100"], subreaper=True)
        self.assertEqual(run.out.line("100 orphans"), "made 100")
        wait_for(lambda: not zombies_of(run.pid), "no zombie to be left", init_support.PATIENCE)
        self.assertEqual(self.strays(), [], "orphans that the launcher did not take in")
        self.assertFalse(gone(run.child))

    def test_fork_storm_of_two_thousand(self):
        # The main child ends in the middle of it: its SIGCHLD is merged with those of the others.
        for code in (3, 125, 127):
            status, _, messages = self.finish([STORM, "2000", str(code)], subreaper=True)
            self.assertEqual(status, code, messages)

    def test_merged_child_signals(self):
        # The launcher is stopped while 100 orphans and the main child end: one SIGCHLD for all.
        run = self.start([STORM, "100", "6", "wait"], subreaper=True)
        self.assertEqual(run.out.line(), "ready")
        pid, child = run.pid, run.child
        run.kill(signal.SIGSTOP)
        wait_for(lambda: run_state(pid) == "T", "the launcher to stop", init_support.PATIENCE)
        run.popen.stdin.close()
        wait_for(lambda: run_state(child) == "Z", "the main child to end", init_support.PATIENCE)
        wait_for(lambda: len(zombies_of(pid)) == 101, "100 orphans and the main child to be zombies",
                 init_support.PATIENCE)
        run.kill(signal.SIGCONT)
        self.assertEqual(run.end(), 6, run.messages())

    def test_merged_child_signals_without_the_main_child(self):
        run = self.start(["sh", "-c", f"read _; {STORM} 100 0; exec sleep 1000"], subreaper=True)
        pid, child = run.pid, run.child
        wait_for(lambda: run_state(pid) == "S", "the launcher to sleep", init_support.PATIENCE)
        run.kill(signal.SIGSTOP)
        wait_for(lambda: run_state(pid) == "T", "the launcher to stop", init_support.PATIENCE)
        run.popen.stdin.close()
        wait_for(lambda: len(zombies_of(pid)) == 100, "100 orphans to be zombies", init_support.PATIENCE)
        run.kill(signal.SIGCONT)
        self.expect_only(run, child)

    def test_last_line_says_what_was_seen(self):
        run = self.start(["sh", "-c", f"{ORPHANS} 7; exec {support.helper('sigcount')} 30"],
                         verbose=True, subreaper=True)
        self.assertEqual(run.out.line(), "made 7")
        child = run.child
        self.expect_only(run, child)
        run.popen.stdin.close()
        self.assertRegex(run.out.line(), "^ready")
        for number in (10, 10, 12, 1, 30):
            run.kill(number)
            self.assertEqual(int(run.out.line().split()[0]), number)
        self.assertEqual(run.end(), 0)
        last = run.messages().splitlines()[-1]
        self.assertTrue(re.search(r"\b7\b", last), f"7 orphans: {last}")
        self.assertTrue(re.search(r"\b5\b", last), f"5 signals: {last}")
        self.assertTrue(re.search(r"\d ?m?s\b", last), f"run time: {last}")

    def test_quiet_says_nothing(self):
        status, _, messages = self.finish(["true"], quiet=True, subreaper=True)
        self.assertEqual((status, messages), (0, ""))


class Subreaper(InitCase):
    """Outside PID 1, without any option: orphans still come to the launcher."""

    def test_becomes_subreaper_without_being_asked(self):
        run = self.start(["sh", "-c", "(sh -c 'echo $$; exec sleep 1000' &); exec sleep 1000"])
        orphan = int(run.out.line("the orphan's number"))
        wait_for(lambda: orphan in children(run.pid), "the orphan to come to the launcher", init_support.PATIENCE)
        os.kill(orphan, signal.SIGKILL)
        wait_for(lambda: run_state(orphan) == "-", "the orphan to be reaped", init_support.PATIENCE)

    def test_works_without_a_complaint(self):
        status, _, messages = self.finish(["true"])
        self.assertEqual(status, 0)
        self.assertNotRegex(messages.lower(), "pid ?1|subreaper|zombie")


if __name__ == "__main__":
    tap.main()
