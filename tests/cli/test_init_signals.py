"""Init mode: which signals reach whom, how often, and with what."""
import os
import signal

import init_support
import support
import tap
from init_support import (FENCE, FORWARDABLE, REAL_TIME, SI_QUEUE, SI_USER, InitCase, both_places, children, gone,
                          name_of, run_state)
from support import wait_for

FAMILY = support.helper("family")
TIMES = 50


@both_places
class Forwarding:
    """Mixin; the two classes made of it run."""

    def send_and_await(self, run, number, patience):
        """Send one signal TIMES times, each when the one before has arrived. Returns what went wrong, or None."""
        for turn in range(1, TIMES + 1):
            run.kill(number)
            try:
                line = run.out.line(name_of(number), patience)
            except AssertionError as why:
                return f"time {turn}: {why}"
            if int(line.split()[0]) != number:
                return f"time {turn}: {line} came instead"
        return None

    def expect_all(self, numbers):
        """Every signal of numbers arrives; a failure names each that does not, tried with a fresh launcher."""
        wrong, run = {}, self.start_counting()
        for number in numbers:
            # The first failure was waited for in full. The rest are looked at only to be named.
            why = self.send_and_await(run, number, 1.0 if wrong else None)
            if why:
                wrong[name_of(number)] = why
                run = self.start_counting()
        if wrong:
            self.fail(f"not forwarded: {', '.join(wrong)}. The first: {next(iter(wrong.values()))}")

    def test_every_forwardable_signal_fifty_times(self):
        self.expect_all([n for n in FORWARDABLE if n < 32])

    def test_every_real_time_signal_fifty_times(self):
        # 32 to 34 too, which libc hides: they come from the raw system call.
        self.expect_all(REAL_TIME)

    def test_abort_from_another_process(self):
        # Not a fault of the launcher's own: a service manager's watchdog sends it.
        run = self.start_counting()
        run.kill(signal.SIGABRT)
        self.assertEqual(run.out.line("ABRT").split()[0], "6")

    def burst(self, numbers, count):
        run = self.start_counting()
        pid = run.pid
        for value in range(count):
            for number in numbers:
                init_support.queue(pid, number, value)
        got = {number: [] for number in numbers}
        for _ in range(count * len(numbers)):
            number, code, value = (int(word) for word in run.out.line("the burst").split())
            self.assertIn(number, got)
            got[number].append((code, value))
        want = [(SI_QUEUE, value) for value in range(count)]
        self.assertEqual([name_of(n) for n in numbers if got[n] != want], [], "lost, without value or out of order")

    def test_real_time_burst_with_values_in_order(self):
        self.burst(list(range(35, 65)), 100)

    def test_real_time_burst_of_those_that_libc_hides(self):
        self.burst([32, 33, 34], 100)

    def test_ordinary_signal_keeps_its_value(self):
        run = self.start_counting()
        init_support.queue(run.pid, signal.SIGUSR1, 4711)
        self.assertEqual(run.out.line("USR1"), f"10 {SI_QUEUE} 4711")

    def test_kill_arrives_as_kill(self):
        run = self.start_counting()
        run.kill(signal.SIGUSR1)
        self.assertEqual(run.out.line("USR1").split()[:2], ["10", str(SI_USER)])

    def test_child_signal_is_not_forwarded(self):
        run = self.start_counting()
        run.kill(signal.SIGCHLD)
        self.assertEqual(self.signals_until_fence(run), [])

    def test_no_stray_signal_at_the_start(self):
        self.assertEqual(self.signals_until_fence(self.start_counting()), [])

    def test_rewrite_by_name(self):
        run = self.start_counting(rewrite="TERM:INT,USR1:USR2")
        run.kill(signal.SIGTERM)
        self.assertEqual(run.out.line("INT").split()[0], "2")
        run.kill(signal.SIGUSR1)
        self.assertEqual(run.out.line("USR2").split()[0], "12")
        # Rewriting is one step, and what is not named stays.
        run.kill(signal.SIGINT)
        self.assertEqual(run.out.line("INT").split()[0], "2")

    def test_rewrite_by_number(self):
        run = self.start_counting(rewrite="15:3")
        run.kill(signal.SIGTERM)
        self.assertEqual(run.out.line("QUIT").split()[0], "3")

    def test_rewrite_to_zero_drops(self):
        run = self.start_counting(rewrite="TERM:INT,HUP:0")
        run.kill(signal.SIGHUP)
        self.assertEqual(self.signals_until_fence(run), [])

    def start_family(self, *settings, **options):
        """The run and the number of the child's child."""
        run = self.start([FAMILY, *settings], **options)
        for who in ("child ", "parent "):
            line = run.out.line(f"the family's {who}")
            self.assertTrue(line.startswith(who), line)
        return run, children(run.child)[0]

    def expect_lines(self, run, want):
        got = sorted(run.out.line(f"{want}") for _ in want)
        self.assertEqual(got, sorted(want))

    def expect_child_untouched(self, run, grandchild):
        """The first signal that the grandchild gets is one that this test sends to it."""
        os.kill(grandchild, signal.SIGUSR2)
        self.assertEqual(run.out.line("the grandchild's USR2"), "child 12")

    def test_signal_to_child(self):
        run, grandchild = self.start_family(signal_to="child")
        run.kill(signal.SIGUSR1)
        self.expect_lines(run, ["parent 10"])
        self.expect_child_untouched(run, grandchild)

    def test_signal_to_group(self):
        run, _ = self.start_family(signal_to="group")
        run.kill(signal.SIGUSR1)
        self.expect_lines(run, ["child 10", "parent 10"])
        self.assertNotIn(run_state(run.pid), "ZT-", "the launcher must not hit itself")

    def test_signal_to_group_leaves_another_group_alone(self):
        run, grandchild = self.start_family("group", signal_to="group")
        run.kill(signal.SIGUSR1)
        self.expect_lines(run, ["parent 10"])
        self.expect_child_untouched(run, grandchild)

    def test_signal_to_tree_reaches_a_session_of_its_own(self):
        # Not by TERM: the parent's end is that of the namespace, and could come before the child's line.
        run, _ = self.start_family("session", signal_to="tree")
        run.kill(signal.SIGUSR1)
        self.expect_lines(run, ["child 10", "parent 10"])
        run.kill(signal.SIGTERM)
        self.assertEqual(run.end(), 0, run.messages())

    def test_signal_to_tree_reaches_a_group_of_its_own(self):
        run, _ = self.start_family("group", signal_to="tree")
        run.kill(signal.SIGUSR1)
        self.expect_lines(run, ["child 10", "parent 10"])

    def test_two_signals_after_silence(self):
        run = self.start_counting()
        wait_for(lambda: run_state(run.pid) == "S", "the launcher to sleep")
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            run.kill(number)
            self.assertEqual(run.out.line(name_of(number)).split()[0], str(int(number)))
            wait_for(lambda: run_state(run.pid) == "S", "the launcher to sleep again")

    def test_child_with_default_dispositions_ends_by_term(self):
        # A program that is PID 1 itself and sets no handler would not even notice.
        run = self.start(["sh", "-c", "echo up; exec sleep 1000"])
        self.assertEqual(run.out.line(), "up")
        run.kill(signal.SIGTERM)
        self.assertEqual(run.end(), 143 if self.as_pid1 else -15, run.messages())


class Stopping(InitCase):
    """Job control outside a namespace: the launcher shows its child's stop to its own parent."""

    def start_sleeper(self):
        """A launcher and its child with default dispositions, in one group that is no orphan."""
        run = self.start(["sh", "-c", "echo up; exec sleep 1000"])
        self.assertEqual(run.out.line(), "up")
        return run, run.child

    def wait_states(self, run, child, letters):
        wait_for(lambda: run_state(run.pid) in letters and run_state(child) in letters,
                 f"launcher and child in {letters}", init_support.PATIENCE)

    def test_tstp_stops_both_and_cont_resumes_both(self):
        for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
            run, child = self.start_sleeper()
            for _ in range(3):
                run.kill(number)
                self.wait_states(run, child, "T")
                run.kill(signal.SIGCONT)
                self.wait_states(run, child, "S")
            run.kill(signal.SIGTERM)
            run.end()
            self.assertTrue(gone(child))

    def test_child_stopped_by_another_is_mirrored(self):
        run, child = self.start_sleeper()
        os.kill(child, signal.SIGSTOP)
        self.wait_states(run, child, "T")
        run.kill(signal.SIGCONT)
        self.wait_states(run, child, "S")

    def test_cont_that_came_before_the_stop_was_mirrored_counts(self):
        # The launcher is held while its child stops, and finds that stop and the CONT together when it wakes up.
        run, child = self.start_sleeper()
        run.kill(signal.SIGSTOP)
        wait_for(lambda: run_state(run.pid) == "T", "the launcher to be held", init_support.PATIENCE)
        os.kill(child, signal.SIGSTOP)
        wait_for(lambda: run_state(child) == "T", "the child to stop", init_support.PATIENCE)
        run.kill(signal.SIGCONT)
        self.wait_states(run, child, "S")

    def test_parent_sees_the_stop(self):
        run, child = self.start_sleeper()
        run.kill(signal.SIGTSTP)
        self.wait_states(run, child, "T")
        pid, status = os.waitpid(run.pid, os.WUNTRACED)
        self.assertEqual(pid, run.pid)
        self.assertTrue(os.WIFSTOPPED(status))
        run.kill(signal.SIGCONT)
        self.wait_states(run, child, "S")

    def test_child_that_takes_tstp_stops_nobody(self):
        run = self.start_counting()
        run.kill(signal.SIGTSTP)
        self.assertEqual(run.out.line("TSTP").split()[0], "20")
        self.assertEqual(self.signals_until_fence(run), [])
        self.assertNotIn(run_state(run.pid), "T-Z")


class StoppingAsPid1(InitCase):
    """PID 1 of a namespace cannot stop: it must go on working while its child is stopped."""

    as_pid1 = True

    def test_stopped_child_is_resumed_by_cont(self):
        run = self.start(["sh", "-c", "echo up; exec sleep 1000"])
        self.assertEqual(run.out.line(), "up")
        child = run.child
        for _ in range(3):
            run.kill(signal.SIGTSTP)
            wait_for(lambda: run_state(child) == "T", "the child to stop", init_support.PATIENCE)
            self.assertNotIn(run_state(run.pid), "T-Z")
            run.kill(signal.SIGCONT)
            wait_for(lambda: run_state(child) == "S", "the child to go on", init_support.PATIENCE)
        run.kill(signal.SIGTERM)
        self.assertEqual(run.end(), 143, run.messages())

    def test_stopped_child_and_the_reaping_of_others(self):
        run = self.start(["sh", "-c", "echo up; read _; (sh -c 'sleep 0.01 &'); echo made; exec sleep 1000"])
        self.assertEqual(run.out.line(), "up")
        child = run.child
        run.popen.stdin.write(b"\n")
        run.popen.stdin.flush()
        self.assertEqual(run.out.line(), "made")
        os.kill(child, signal.SIGSTOP)
        wait_for(lambda: run_state(child) == "T", "the child to stop", init_support.PATIENCE)
        wait_for(lambda: children(run.pid) == [child], "the orphan to be reaped", init_support.PATIENCE)
        self.assertEqual(run_state(child), "T")


class Faults(InitCase):
    def test_synchronous_fault_is_not_swallowed(self):
        run = self.start_counting()
        run.kill(signal.SIGSEGV)
        self.assertNotEqual(run.end(), 0, run.messages())
        # A sanitizer may turn the fault into an exit; what counts is that the launcher ended and passed nothing on.
        self.assertEqual([line for line in run.out.rest().splitlines() if line.startswith("11 ")], [])


class ParentDeath(InitCase):
    """The parent is a shell that ends with its stdin; the launcher gets the signal of its choice."""

    def test_child_hears_of_it(self):
        words = self.launcher.command([support.helper("sigcount")], parent_death="TERM")
        middle = self.popen(["sh", "-c", '"$@" & read _', "sh", *self.place(words)], stdin=-1, stdout=-1)
        out = init_support.Lines(middle.stdout.fileno())
        self.assertRegex(out.line("sigcount's start"), "^ready")
        middle.stdin.close()
        self.assertEqual(out.line("the parent's death").split()[0], "15")

    def test_without_it_nothing_happens(self):
        words = self.launcher.command([support.helper("sigcount")])
        middle = self.popen(["sh", "-c", '"$@" & echo $!; read _', "sh", *self.place(words)], stdin=-1, stdout=-1)
        out = init_support.Lines(middle.stdout.fileno())
        first, second = sorted((out.line(), out.line()))
        self.assertRegex(second, "^ready")
        middle.stdin.close()
        middle.wait()
        os.kill(int(first), FENCE)
        self.assertEqual(out.line("the fence").split()[0], str(FENCE))


class ParentDeathAsPid1(InitCase):
    as_pid1 = True

    def test_child_hears_of_it(self):
        words = self.launcher.command([support.helper("sigcount")], parent_death="TERM")
        # Not with --kill-child: that is the same setting of the kernel's, made by unshare.
        place = [word for word in self.place(words) if word != "--kill-child"]
        outer = self.popen(place, stdout=-1)
        out = init_support.Lines(outer.stdout.fileno())
        self.assertRegex(out.line("sigcount's start"), "^ready")
        outer.kill()
        self.assertEqual(out.line("the parent's death").split()[0], "15")


class TreeWithOrphans(InitCase):
    """A descendant whose parent is gone still belongs to the tree."""

    def expect_orphan_reached(self):
        run = self.start(["sh", "-c", f"({FAMILY} session stubborn leave=0); exec {support.helper('sigcount')}"],
                         signal_to="tree", subreaper=True)
        lines = [run.out.line(), run.out.line(), run.out.line()]
        self.assertRegex(lines[-1], "^ready")
        run.kill(signal.SIGUSR1)
        got = sorted(" ".join(run.out.line("USR1").split()[:2]) for _ in range(2))
        self.assertEqual(got, [f"10 {SI_USER}", "child 10"])

    def test_orphan_is_reached(self):
        self.expect_orphan_reached()


class TreeWithOrphansAsPid1(TreeWithOrphans):
    as_pid1 = True


if __name__ == "__main__":
    tap.main()
