"""Init mode measures: the peak of the workload, its record in the peak file, the next start's limit, the report, the
warnings. The workloads are Python scripts that open what a case needs and say when they are ready.
"""
import os
import re
import stat
import subprocess
import sys
import time

import support
import tap

#: A system's Python without a wrapper in front, so that the workload is one process.
PYTHON = os.path.realpath(sys.executable)

#: Opens so many descriptors, says "ready", and ends when its stdin does.
HOLD = """
import os, sys
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(int(sys.argv[1]))]
print("ready", max(held, default=2) + 1, flush=True)
sys.stdin.read()
"""

#: Has a table of 4,096 for a moment, and then as little open as before.
BURST = """
import os, sys
for fd in [os.dup2(0, n) for n in range(1000, 4000)]:
    os.close(fd)
print("ready 3", flush=True)
sys.stdin.read()
"""

RECORD = re.compile(r"^(?P<label>\S+) need=(?P<need>\d+) bound=(?P<bound>\d+) observed=(?P<observed>\d+)"
                    r"(?: at=(?P<at>\d+))?(?: by=(?P<by>\S+))?")


def read_peaks(path):
    """The records of a peak file by label, which must be whole."""
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    assert lines[0] == "fdfit-peak 1" and lines[-1] == f"end {len(lines) - 2}", lines
    records = {}
    for line in lines[1:-1]:
        found = RECORD.match(line)
        assert found, line
        records[found["label"]] = {k: v if k in ("label", "by") else int(v or 0) for k, v in found.groupdict().items()}
    return records


class Service:
    """A workload under fdfit --init that waits until it is told to end."""

    def __init__(self, case, options, program, *arguments, limit=(4096, 4096), cwd=None):
        self.case = case
        self.log = case.path("stderr")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [support.FDFIT, "--init", "--sample=100ms", *options, "--", PYTHON, "-c", program,
                 *map(str, arguments)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=support.clean_env(), cwd=cwd,
                preexec_fn=support.nofile(*limit))
        case.addCleanup(self.abandon)

    def ready(self):
        """Wait for the workload; what it said its highest number + 1 is."""
        word, _, number = self.process.stdout.readline().partition(" ")
        self.case.assertEqual(word, "ready", self.messages())
        return int(number)

    def wake_ups(self):
        """How often the supervisor has gone to sleep again: an undisturbed one wakes up to sample alone."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii", errors="replace") as status:
            return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read(), re.M)[1])

    def wait_for_samples(self, number):
        before = self.wake_ups()
        support.wait_for(lambda: self.wake_ups() > before + number, f"{number} samples")

    def messages(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def finish(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(support.PATIENCE)

    def abandon(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()


class Watch(support.Case):
    def setUp(self):
        super().setUp()
        self.peak = self.path("peak")
        self.report = self.path("report.prom")

    def run_once(self, options, program=HOLD, *arguments, samples=2, **more):
        """Start, wait for some samples by the report, end; the messages."""
        service = Service(self, [f"--report={self.report}", *options], program, *arguments, **more)
        need = service.ready()
        service.wait_for_samples(samples)
        self.assertEqual(service.finish(), 0, service.messages())
        return need, service.messages()

    def metrics(self):
        with open(self.report, encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
        return {line.split("{")[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


class Peaks(Watch):
    def test_the_peak_is_recorded(self):
        need, _ = self.run_once([f"--peak-file={self.peak}"], HOLD, 120)
        record = read_peaks(self.peak)["default"]
        self.assertEqual(record["need"], need)
        self.assertEqual(record["bound"], 128 if need <= 128 else 256)
        self.assertEqual(record["by"], os.path.basename(PYTHON)[:15])
        self.assertLess(abs(record["at"] - time.time()), 60)

    def test_a_relative_path_is_where_fdfit_was_started(self):
        self.run_once(["--peak-file=sub/peak", "--report=sub/r.prom"], HOLD, 5, cwd=self.made("sub"))
        self.assertEqual(set(os.listdir(self.path("sub"))) - {"peak.lock", "r.prom.lock"}, {"peak", "r.prom"})

    def made(self, name):
        os.mkdir(self.path(name))
        return self.dir

    def test_a_restart_keeps_the_record_and_adds_the_time(self):
        need, _ = self.run_once([f"--peak-file={self.peak}"], HOLD, 200, samples=12)
        first = read_peaks(self.peak)["default"]
        self.run_once([f"--peak-file={self.peak}"], HOLD, 10, samples=12)
        second = read_peaks(self.peak)["default"]
        self.assertEqual((second["need"], second["at"]), (need, first["at"]))
        self.assertGreater(second["observed"], first["observed"])

    def test_reset_begins_anew(self):
        self.run_once([f"--peak-file={self.peak}"], HOLD, 200)
        need, _ = self.run_once([f"--peak-file={self.peak}", "--record=reset"], HOLD, 10)
        self.assertEqual(read_peaks(self.peak)["default"]["need"], need)

    def test_record_no_reads_only(self):
        self.run_once([f"--peak-file={self.peak}", "--record=no"], HOLD, 10)
        self.assertFalse(os.path.exists(self.peak))

    def test_labels_have_lines_of_their_own_and_the_largest_counts(self):
        self.run_once([f"--peak-file={self.peak}", "--label=day"], HOLD, 300)
        need, _ = self.run_once([f"--peak-file={self.peak}", "--label=night"], HOLD, 20)
        records = read_peaks(self.peak)
        self.assertEqual(set(records), {"day", "night"})
        self.assertEqual(records["night"]["need"], need)
        _, messages = self.run_once(["--soft=peak", "--fallback=2000", "--settle=0", "--record=no",
                                     f"--peak-file={self.peak}"], HOLD, 1)
        self.assertIn(f"peak {records['day']['need']} of ", messages)

    def test_a_burst_between_two_samples_shows_in_the_bound(self):
        self.run_once([f"--peak-file={self.peak}"], BURST)
        record = read_peaks(self.peak)["default"]
        self.assertEqual(record["bound"], 4096)
        self.assertLess(record["need"], 4096)
        _, messages = self.run_once(["--soft=peak", "--fallback=65536", "--when-denied=clamp", "--settle=0", "--record=no",
                                     f"--peak-file={self.peak}"], BURST, limit=(8192, 8192))
        self.assertIn("-> 4096:", messages)
        self.assertIn("a table of 4096", messages)

    def test_bash_and_its_script_are_no_need(self):
        # The script's descriptor is 255 by bash's choice, whatever the limit.
        script = self.write("run.sh", "#!/bin/bash\necho ready 4\nread -r line\nexit 0\n", 0o755)
        service = Service(self, [f"--peak-file={self.peak}"], f"import os; os.execv({script!r}, [{script!r}])")
        service.ready()
        service.wait_for_samples(2)
        service.finish()
        self.assertLess(read_peaks(self.peak)["default"]["need"], 64)

    def test_killed_by_kill_leaves_a_whole_file_or_none(self):
        service = Service(self, [f"--peak-file={self.peak}"], HOLD, 30)
        service.ready()
        service.process.kill()
        service.process.wait()
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith("peak") and name != "peak.lock"], [])


class Deriving(Watch):
    def start(self, *options):
        return self.run_once(["--soft=peak", "--fallback=1024", f"--peak-file={self.peak}", *options], HOLD, 120)

    def test_the_first_start_takes_the_fallback_and_the_second_the_peak(self):
        need, messages = self.start("--settle=0")
        self.assertIn("-> 1024:1024 (fallback: no peak yet)", messages)
        _, messages = self.start("--settle=0")
        self.assertRegex(messages, rf"-> 256:1024 \(peak {need} of \d{{4}}-\d\d-\d\d \+ 50%, floor 256\)")

    def test_a_peak_that_has_not_settled_does_not_count_and_says_until_when(self):
        need, _ = self.start()
        _, messages = self.start()
        self.assertRegex(messages, rf"-> 1024:1024 \(fallback: peak {need} counts after 2[34]h.* more\)")

    def test_python2_of_the_whole_way(self):
        python2 = support.python2()
        code = ("import os, subprocess, sys\n"
                "held = [os.open('/dev/null', 0) for _ in range(124)]\n"
                "for _ in range(30): assert subprocess.call(['/bin/true'], close_fds=True) == 0\n"
                "print('max', max(held) + 1, subprocess.MAXFD)\n"
                "import time; time.sleep(0.4)\n")
        limits = []
        for _ in range(2):
            done = support.run(support.FDFIT, "--init", "--sample=100ms", "--soft=peak", "--fallback=1024", "--settle=0",
                               f"--peak-file={self.peak}", "--", python2, "-c", code, preexec_fn=support.nofile(4096))
            self.assertEqual(done.returncode, 0, done.stderr)
            limits.append(int(re.search(r"(\d+)\)?$", done.stdout.strip())[1]))
        self.assertEqual(limits, [1024, 256])


class Trouble(Watch):
    """What is wrong with the files is said once, and the workload runs on."""

    def messages_with(self, *options, content=None):
        if content is not None:
            self.write("peak", content)
        _, messages = self.run_once([f"--peak-file={self.peak}", *options], HOLD, 5)
        return messages

    def test_a_torn_file_is_replaced(self):
        self.messages_with(content="fdfit-peak 1\ndefault need=900 bound=1024 obs")
        self.assertLess(read_peaks(self.peak)["default"]["need"], 64)

    def test_a_foreign_file_is_left(self):
        content = "this is somebody's letter\n"
        self.assertIn("peak-file", self.messages_with(content=content))
        with open(self.peak, encoding="ascii") as file:
            self.assertEqual(file.read(), content)

    def test_a_file_from_the_future_is_left(self):
        content = "fdfit-peak 2\nwhatever\n"
        self.assertIn("version 2", self.messages_with(content=content))
        with open(self.peak, encoding="ascii") as file:
            self.assertEqual(file.read(), content)

    def test_a_missing_folder(self):
        _, messages = self.run_once(["--peak-file=/nowhere/at/all/peak"], HOLD, 5)
        self.assertEqual(messages.count("peak-file /nowhere/at/all/peak"), 1, messages)

    def test_a_symbolic_link_is_not_followed(self):
        target = self.write("target", "precious\n")
        os.symlink(target, self.peak)
        self.messages_with()
        with open(target, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious\n")

    def test_a_lock_that_another_holds_is_not_waited_for(self):
        with open(self.peak + ".lock", "wb") as lock:
            import fcntl
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("is being written by another", self.messages_with())


class Warnings(Watch):
    def test_near_the_limit_is_said_once(self):
        _, messages = self.run_once(["-n", "64"], HOLD, 50, samples=6)
        self.assertEqual(len(re.findall(r"\(pid \d+\) stands at \d+ of 64 descriptors; see headroom", messages)), 1)

    def test_at_the_limit_is_said(self):
        fill = ("import os, sys\ntry:\n while True: os.open('/dev/null', 0)\nexcept OSError: pass\n"
                "print('ready 3', flush=True)\nsys.stdin.read()\n")
        _, messages = self.run_once(["-n", "64"], fill, samples=6)
        self.assertEqual(len(re.findall(r"\(pid \d+\) reached its limit: 64 of 64 descriptors", messages)), 1, messages)
        self.assertEqual(self.metrics()["fdfit_processes_at_limit_total"], 1)

    def test_warn_at_is_a_setting(self):
        _, messages = self.run_once(["-n", "64", "--warn-at=0%"], HOLD, 55, samples=6)
        self.assertNotIn("stands at", messages)
        _, messages = self.run_once(["-n", "64", "--warn-at=20%"], HOLD, 12, samples=6)
        self.assertIn("stands at", messages)

    def test_hostile_names_are_escaped(self):
        name = "a\x1b[2Jb"
        program = f"open('/proc/self/comm', 'w').write({name!r})\n" + HOLD
        _, messages = self.run_once(["-n", "64"], program, 55, samples=6)
        self.assertIn("a\\x1b[2Jb (pid ", messages)
        self.assertNotIn("\x1b", messages)


class Report(Watch):
    def test_the_report_shows_what_is(self):
        need, _ = self.run_once(["-n", "512:1024"], HOLD, 100)
        metrics = self.metrics()
        self.assertEqual(metrics["fdfit_nofile_soft"], 512)
        self.assertEqual(metrics["fdfit_nofile_hard"], 1024)
        self.assertEqual(metrics["fdfit_nofile_inherited_soft"], 4096)
        self.assertEqual(metrics["fdfit_descriptors_peak"], need)
        self.assertGreater(metrics["fdfit_descriptors_highest"], 0)  # though the workload has ended by then
        self.assertLess(abs(metrics["fdfit_start_time_seconds"] - time.time()), 60)
        self.assertEqual(stat.S_IMODE(os.stat(self.report).st_mode), 0o644)

    def test_refusals_of_the_lock_are_counted(self):
        ask = ("import resource as r\nfor _ in range(3):\n"
               " r.setrlimit(r.RLIMIT_NOFILE, (4096, 4096))\n") + HOLD
        self.run_once(["-n", "512:4096", "--lock=clamp"], ask, 5)
        self.assertEqual(self.metrics()["fdfit_lock_refusals_total"], 3)

    def test_promtool_takes_it(self):
        self.run_once(["-n", "512"], HOLD, 5)
        promtool = os.path.join(support.VICTIMS, "usr/bin/promtool")
        if not os.access(promtool, os.X_OK):
            promtool = support.need("promtool")
        with open(self.report, "rb") as report:
            done = support.run(promtool, "check", "metrics", stdin=report)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


class Settings(support.Case):
    def test_bad_values_are_refused(self):
        for option, reason in (("--sample=50ms", "a sample can be taken every 100ms at most"),
                               ("--warn-at=120%", "more than 100% of the soft limit is never reached"),
                               ("--label=a=b", "is not a label"), ("--label=end", "is not a label"),
                               ("--label=a b", "is not a label"), ("--record=maybe", "'no', 'yes' or 'reset'")):
            with self.subTest(option=option):
                done = support.run(support.FDFIT, "--init", option, "--", "true")
                self.assertEqual(done.returncode, 125)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    tap.main()
