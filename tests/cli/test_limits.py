"""The limit that a command gets by number or by peak, why not, and the descriptors above it."""
import filecmp
import os
import shutil
import unittest

import support
import tap
from exec_support import (ExecCase, HARD_REFUSED, INHERITED, WAS, need_no_sanitizer,
                          nr_open, nr_open_refused, without_cap)


class Limits(ExecCase):
    """What the workload gets, and why not."""

    def test_forms(self):
        for option, pair in (("1024", (1024, 1024)), ("256:1024", (256, 1024)), ("256:", (256, 4000)),
                             (":3000", (2000, 3000)), ("0256:0512", (256, 512))):
            for form in (("-n", option), (f"-n{option}",), (f"--nofile={option}",), ("--nofile", option)):
                with self.subTest(form=form):
                    self.assert_limit(pair, f"{WAS} -> {pair[0]}:{pair[1]}", *form)

    def test_kept(self):
        self.assert_limit((2000, 4000), f"{WAS} kept", "--soft=inherit")
        self.assert_limit((2000, 4000), f"{WAS} kept", "-n", "2000:4000")

    def test_both_come_down_in_one_call(self):
        self.assert_limit((100, 100), f"{WAS} -> 100:100", "-n", "100")
        self.assert_limit((4000, 4000), f"{WAS} -> 4000:4000", "-n", "4000")

    def test_soft_above_hard(self):
        line = "can't be had: soft is above hard; raise hard, lower soft, or set when-denied = clamp\n"
        self.assert_says(f"fdfit: nofile 3000:2999 {line}", "-n", "3000:2999", status=125)
        self.assert_says(f"fdfit: nofile 5000:4000 {line}", "-n", "5000:", status=125)
        self.assert_limit((2999, 2999), f"{WAS} -> 2999:2999 (soft clamped to hard)", "-n", "3000:2999",
                          "--when-denied=clamp")

    def test_a_raise_without_the_capability(self):
        for option, pair in (("8192", "8192:8192"), ("100:4001", "100:4001")):
            self.assert_says(f"fdfit: nofile {pair} can't be had: {HARD_REFUSED}\n", "-n", option, status=125,
                             prefix=without_cap())

    def test_a_raise_without_the_capability_clamped(self):
        why = "clamped to the inherited hard limit: no CAP_SYS_RESOURCE"
        self.assert_limit((4000, 4000), f"{WAS} -> 4000:4000 ({why})", "-n", "8192", "--when-denied=clamp",
                          prefix=without_cap())
        self.assert_limit((100, 4000), f"{WAS} -> 100:4000 ({why})", "-n", "100:8192", "--when-denied=clamp",
                          prefix=without_cap())

    def test_a_raise_in_a_user_namespace_with_all_capabilities(self):
        trial = support.run("unshare", "-Ur", "true")
        if trial.returncode != 0:
            raise unittest.SkipTest(f"no user namespace here: {trial.stderr.strip()}")
        self.assert_says(f"fdfit: nofile 8192:8192 can't be had: {HARD_REFUSED}\n", "-n", "8192", status=125,
                         prefix=(*without_cap(), "unshare", "-Ur"))

    def test_above_nr_open(self):
        for limit in (nr_open() + 1, 1073741816, 2**31, 2**31 - 1, 2**32, 2**63, 2**64 - 2):
            if limit > nr_open():
                with self.subTest(limit=limit):
                    self.assert_says(nr_open_refused(f"{limit}:{limit}"), "-n", str(limit), status=125)
        self.assert_says(nr_open_refused("unlimited:unlimited"), "-n", str(2**64 - 1), status=125)

    def test_above_nr_open_clamped(self):
        for limit in (nr_open() + 1, 2**31, 2**63, 2**64 - 1):
            with self.subTest(limit=limit):
                self.assert_limit(
                    (4000, 4000), f"{WAS} -> 4000:4000 (clamped to fs.nr_open, clamped to the inherited hard limit: no "
                    "CAP_SYS_RESOURCE)", "-n", str(limit), "--when-denied=clamp", prefix=without_cap())

    def test_above_the_largest_number(self):
        self.assert_says("fdfit: --nofile: '18446744073709551616' is too large for a number or 'unlimited'\n", "-n",
                         str(2**64), status=125)

    def test_unlimited(self):
        top = nr_open()
        self.assert_says(f"fdfit: nofile {top}:{top} can't be had: {HARD_REFUSED}\n", "-n", "unlimited", status=125,
                         prefix=without_cap())
        self.assert_limit((4000, 4000), f"{WAS} -> 4000:4000 (unlimited is fs.nr_open, clamped to the inherited hard "
                          "limit: no CAP_SYS_RESOURCE)", "--soft=unlimited", "--when-denied=clamp",
                          prefix=without_cap())

    def test_a_refusal_starts_nothing(self):
        done = self.run_fdfit("-n", "8192", "touch", self.path("started"), prefix=without_cap())
        self.assertEqual(done.returncode, 125)
        self.assertFalse(os.path.exists(self.path("started")))

    def test_nr_open_is_read_only_when_it_is_needed(self):
        strace, log = support.need("strace"), self.path("strace")
        for options, needed in ((("-n", "512"), False), (("-n", "512", "--inherited-fds=close"), False),
                                (("-n", "unlimited", "--when-denied=clamp"), True)):
            done = self.run_fdfit(*options, "true", prefix=(strace, "-o", log, "-e", "trace=openat"))
            if done.returncode != 0:
                raise unittest.SkipTest(f"strace cannot trace here: {done.stderr.strip()}")
            with open(log, encoding="utf-8") as lines:
                self.assertEqual("nr_open" in lines.read(), needed, options)

    def test_contradictions(self):
        self.assert_says(
            "fdfit: soft = peak needs a fallback (the soft limit while there is no peak that counts), or a peak; add "
            "fallback = N\n", "--soft=peak", status=125)
        self.assert_says("fdfit: floor 512 is above the ceiling 256\n", "--soft=peak", "--fallback=256", "--floor=512",
                         status=125)


class InheritedDescriptors(ExecCase):
    """Those at or above the new soft limit stay usable and leak, so they are told of, or closed."""

    def setUp(self):
        super().setUp()
        self.passed = [300, 301, 400]
        for number in self.passed:
            os.dup2(0, number, inheritable=True)
            self.addCleanup(os.close, number)

    def fds(self, *options, prefix=(), passed=None, **more):
        state, stderr = self.state(*options, prefix=prefix, pass_fds=self.passed if passed is None else passed, **more)
        return state["fds"], stderr.replace(f"fdfit: {WAS} -> 256:256\n", "")

    def test_warned_of(self):
        fds, stderr = self.fds("-n", "256")
        self.assertEqual(fds, [0, 1, 2, 300, 301, 400])
        self.assertEqual(stderr, (
            "fdfit: warning: 3 inherited descriptors at or above 256 stay open (the highest is 400) and will leak into "
            "children; inherited-fds = close closes, keep is silent\n"))

    def test_one_is_warned_of_in_the_singular(self):
        _, stderr = self.fds("-n", "256", passed=[301])
        self.assertEqual(stderr, (
            "fdfit: warning: 1 inherited descriptor at or above 256 stays open (301) and will leak into children; "
            "inherited-fds = close closes, keep is silent\n"))

    def test_the_bound_is_exact(self):
        for soft, count in ((301, "2 inherited descriptors"), (302, "1 inherited descriptor "), (401, "")):
            stderr = self.fds("-n", str(soft))[1]
            self.assertIn(count, stderr)
            self.assertEqual("warning" in stderr, bool(count), stderr)

    def test_kept(self):
        self.assertEqual(self.fds("-n", "256", "--inherited-fds=keep"), ([0, 1, 2, 300, 301, 400], ""))

    def test_closed(self):
        self.assertEqual(self.fds("-n", "256", "--inherited-fds=close"), ([0, 1, 2], ""))
        self.assertEqual(self.fds("-n", "301", "--inherited-fds=close")[0], [0, 1, 2, 300])
        self.assertEqual(self.fds("-n", "1000", "--inherited-fds=close")[0], [0, 1, 2, 300, 301, 400])

    def test_those_of_systemd_are_not_closed(self):
        own_pid = (support.helper("start-with"), "own-pid=LISTEN_PID", "--")
        close = ("-n", "256", "--inherited-fds=close")
        self.assertEqual(self.fds(*close, prefix=own_pid, env={"LISTEN_FDS": "298"}), ([0, 1, 2, 300], ""))
        self.assertEqual(self.fds(*close, prefix=own_pid, env={"LISTEN_FDS": "299"}), ([0, 1, 2, 300, 301], ""))

    def test_those_of_systemd_for_another_process_are_closed(self):
        close = ("-n", "256", "--inherited-fds=close")
        for env in ({"LISTEN_PID": "1", "LISTEN_FDS": "300"}, {"LISTEN_FDS": "300"}, {"LISTEN_PID": "x"}):
            self.assertEqual(self.fds(*close, env=env)[0], [0, 1, 2])

    def test_a_count_of_systemd_that_is_none_protects_nothing(self):
        own_pid = (support.helper("start-with"), "own-pid=LISTEN_PID", "--")
        for count in ("", "-1", "4294967296", "18446744073709551615", "many"):
            with self.subTest(count=count):
                self.assertEqual(self.fds("-n", "256", "--inherited-fds=close", prefix=own_pid,
                                          env={"LISTEN_FDS": count})[0], [0, 1, 2])

    def test_the_standard_ones_stay_whatever_the_limit(self):
        log = self.path("strace")
        prefix = (support.need("strace"), "-o", log, "-e", "trace=close_range")
        done = self.run_fdfit("-q", "-n", "0", "--inherited-fds=close", support.helper("noop"), prefix=prefix)
        if not os.path.exists(log) or os.path.getsize(log) == 0:
            raise unittest.SkipTest(f"strace cannot trace here: {done.stderr.strip()}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(log, encoding="utf-8") as lines:
            self.assertIn("close_range(3, 4294967295, 0) = 0", " ".join(lines.read().split()))

    def refuse_close_range(self, error):
        strace = support.need("strace")
        prefix = (strace, "-f", "-o", self.path("strace"), "-e", "trace=close_range", "-e",
                  f"inject=close_range:error={error}")
        trial = support.run(*prefix, "true")
        if trial.returncode != 0:
            raise unittest.SkipTest(f"strace cannot inject here: {trial.stderr.strip()}")
        return prefix

    def test_closed_where_close_range_is_refused(self):
        for error in ("EPERM", "ENOSYS"):
            with self.subTest(error=error):
                prefix = self.refuse_close_range(error)
                self.assertEqual(self.fds("-n", "256", "--inherited-fds=close", prefix=prefix), ([0, 1, 2], ""))
                with open(self.path("strace"), encoding="utf-8") as lines:
                    self.assertIn("(INJECTED)", lines.read())

    def test_found_though_every_number_below_the_limit_is_taken(self):
        """Nothing can be opened any more once the limit is set."""
        full = list(range(3, 60))
        for number in full:
            try:
                os.fstat(number)
            except OSError:
                os.dup2(0, number)
                self.addCleanup(os.close, number)
        done = self.run_fdfit("-n", "20", "/bin/true", pass_fds=full)
        self.assertIn(" 40 inherited descriptors at or above 20 stay open (the highest is 59) ", done.stderr)
        done = self.run_fdfit("-n", "20", "--inherited-fds=close", "/bin/true", pass_fds=full,
                              prefix=self.refuse_close_range("EPERM"))
        self.assertNotIn("fdfit: warning", done.stderr)


class WithoutProc(ExecCase):
    """/proc covered by an empty folder, in a mount namespace."""

    def setUp(self):
        super().setUp()
        need_no_sanitizer()
        self.prefix = (support.need("unshare"), "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
        trial = support.run(*self.prefix, "true")
        if trial.returncode != 0:
            raise unittest.SkipTest(f"no mount namespace here: {trial.stderr.strip()}")
        self.prlimit = (support.need("prlimit"), "--raw", "--noheadings", "--nofile", "--output=SOFT,HARD")

    def limit(self, *options, **more):
        done = self.run_fdfit(*options, *self.prlimit, prefix=self.prefix, **more)
        return done.stdout.split(), done.stderr, done.returncode

    def test_a_small_table_needs_no_proc(self):
        self.assertEqual(self.limit("-n", "256:512"), (["256", "512"], f"fdfit: {WAS} -> 256:512\n", 0))

    def test_the_limit_is_set_and_what_cannot_be_known_is_said(self):
        # A table has 64 numbers at first, so 20 cannot be shown to be above it.
        self.assertEqual(self.limit("-n", "20:512"), (
            ["20", "512"], f"fdfit: {WAS} -> 20:512\nfdfit: warning: can't look for inherited descriptors: "
            "/proc/self/fd: no such file or folder\n", 0))

    def test_keep_has_nothing_to_look_for(self):
        self.assertEqual(self.limit("-q", "-n", "20:512", "--inherited-fds=keep"), (["20", "512"], "", 0))

    def test_close_needs_no_proc(self):
        self.assertEqual(self.limit("-n", "20", "--inherited-fds=close"),
                         (["20", "20"], f"fdfit: {WAS} -> 20:20\n", 0))

    def test_close_where_close_range_is_refused_too(self):
        strace = support.need("strace")
        inject = (strace, "-f", "-o", self.path("strace"), "-e", "trace=close_range", "-e",
                  "inject=close_range:error=EPERM")
        trial = support.run(*self.prefix, *inject, "true")
        if trial.returncode != 0:
            raise unittest.SkipTest(f"strace cannot inject here: {trial.stderr.strip()}")
        done = self.run_fdfit("-n", "20", "--inherited-fds=close", "true", prefix=(*self.prefix, *inject))
        self.assertEqual(done.stderr, (
            f"fdfit: {WAS} -> 20:20\nfdfit: warning: can't close the inherited descriptors: close_range is refused, "
            "and /proc/self/fd: no such file or folder\n"))
        self.assertEqual(done.returncode, 0)

    def test_unlimited_cannot_be_known(self):
        self.assertEqual(self.limit("-n", "unlimited"), (
            [], "fdfit: can't read /proc/sys/fs/nr_open, which 'unlimited' stands for: no such file or folder\n", 125))

    def test_a_refused_raise_says_that_there_may_be_two_reasons(self):
        done = self.run_fdfit("-n", "8192", "true", prefix=(*without_cap(), *self.prefix))
        self.assertEqual((done.stderr, done.returncode), (
            f"fdfit: nofile 8192:8192 can't be had: {HARD_REFUSED} (or fs.nr_open is lower: it can't be read here)\n",
            125))

    def test_install(self):
        done = self.run_fdfit("--install", self.path("copy"), prefix=self.prefix)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        self.assertTrue(filecmp.cmp(self.path("copy"), shutil.which(support.FDFIT), shallow=False))


class Peak(ExecCase):
    """soft = peak, with a peak file in every state."""

    SETTLED = "fdfit-peak 1\ndefault need=127 bound=128 observed=86400 at=1764547200 by=python2.7\nend 1\n"

    def peak(self, line, content=None, *options, warning="", pair, **more):
        path = self.path("peak") if content is None else self.write("peak", content)
        state, stderr = self.state("--soft=peak", "--fallback=1024", f"--peak-file={path}", *options, **more)
        said = f"fdfit: warning: peak file {path} {warning}; it is left out\n" if warning else ""
        self.assertEqual((stderr, tuple(state["nofile"])), (f"{said}fdfit: {WAS} -> {line}\n", pair))

    def test_settled(self):
        self.peak("256:1024 (peak 127 of 2025-12-01 + 50%, floor 256)", self.SETTLED, pair=(256, 1024))

    def test_settled_over_the_floor(self):
        self.peak("191:1024 (peak 127 of 2025-12-01 + 50%)", self.SETTLED, "--floor=10", pair=(191, 1024))

    def test_not_settled(self):
        content = self.SETTLED.replace("observed=86400", "observed=43200")
        self.peak("1024:1024 (fallback: peak 127 counts after 12h more)", content, pair=(1024, 1024))

    def test_settled_by_a_shorter_time(self):
        content = self.SETTLED.replace("observed=86400", "observed=43200")
        self.peak("256:1024 (peak 127 of 2025-12-01 + 50%, floor 256)", content, "--settle=12h", pair=(256, 1024))

    def test_measured(self):
        content = self.SETTLED.replace("observed=86400", "observed=5 how=measured")
        self.peak("256:1024 (peak 127 of 2025-12-01 + 50%, floor 256)", content, pair=(256, 1024))

    def test_a_burst_that_only_the_table_shows(self):
        self.peak("512:1024 (peak 127 of 2025-12-01 + 50%, a table of 512)",
                  self.SETTLED.replace("bound=128", "bound=512"), pair=(512, 1024))

    def test_missing(self):
        self.peak("1024:1024 (fallback: no peak yet)", pair=(1024, 1024))

    def test_without_records(self):
        self.peak("1024:1024 (fallback: no peak yet)", "fdfit-peak 1\nend 0\n", pair=(1024, 1024))

    def test_torn(self):
        fallback = "1024:1024 (fallback: no peak yet)"
        self.peak(fallback, "", warning="is empty", pair=(1024, 1024))
        self.peak(fallback, self.SETTLED[:-1], warning="is torn: it does not end well, or has NUL bytes",
                  pair=(1024, 1024))
        self.peak(fallback, self.SETTLED[:-6], warning="is torn: it has no end line", pair=(1024, 1024))
        self.peak(fallback, "\0" * 100, warning="is torn: it does not end well, or has NUL bytes", pair=(1024, 1024))

    def test_from_the_future(self):
        self.peak("1024:1024 (fallback: no peak yet)", self.SETTLED.replace("-peak 1", "-peak 2"),
                  warning="has version 2, and this program knows version 1", pair=(1024, 1024))

    def test_dated_in_the_future(self):
        self.peak("256:1024 (peak 127 of 9999-12-31 + 50%, floor 256)",
                  self.SETTLED.replace("1764547200", "253402300799"), pair=(256, 1024))

    def test_not_a_regular_file(self):
        os.mkfifo(self.path("peak"))
        self.peak("1024:1024 (fallback: no peak yet)", warning="is not a regular file", pair=(1024, 1024))

    def test_not_readable(self):
        launcher, user = self.for_another_user()
        path = self.write("peak", self.SETTLED, 0o600)
        done = support.run(launcher, "--soft=peak", "--fallback=1024", f"--peak-file={path}", "true", **user,
                           preexec_fn=support.nofile(*INHERITED))
        self.assertEqual((done.stderr, done.returncode), (
            f"fdfit: warning: peak file {path} permission denied; it is left out\n"
            f"fdfit: {WAS} -> 1024:1024 (fallback: no peak yet)\n", 0))

    def test_too_large(self):
        self.peak("1024:1024 (fallback: no peak yet)", "#" * 16385, warning="too large", pair=(1024, 1024))

    def test_not_looked_at_unless_soft_is_peak(self):
        self.assert_says(f"fdfit: {WAS} -> 512:512\n", "-n", "512", f"--peak-file={self.write('peak', 'torn')}")

    def test_at_the_ceiling(self):
        _, stderr = self.state("--soft=peak", "--fallback=1024", "--peak=1024")
        self.assertEqual(stderr, (
            f"fdfit: {WAS} -> 1024:1024 (peak 1024 + 50%, ceiling 1024)\n"
            "fdfit: warning: the peak 1024 reaches the ceiling 1024: the workload leaks descriptors, or the ceiling is "
            "too low\n"))


if __name__ == "__main__":
    tap.main()
