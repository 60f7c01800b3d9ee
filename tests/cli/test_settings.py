"""Where a value comes from, what becomes of the variables, and --explain."""
import os
import shutil

import support
import tap
from exec_support import ExecCase, WAS, nr_open


class Precedence(ExecCase):
    """Argument, then variable, then policy; and what becomes of the variables."""

    def limit(self, *options, **env):
        return tuple(self.state("-q", *options, env=env)[0]["nofile"])

    def test_argument_then_variable_then_policy(self):
        policy = self.write("web.conf", "soft = 100\nhard = 1000\n")
        self.assertEqual(self.limit("-p", policy), (100, 1000))
        self.assertEqual(self.limit("-p", policy, FDFIT_SOFT="200"), (200, 1000))
        self.assertEqual(self.limit("-p", policy, "--soft=300", FDFIT_SOFT="200"), (300, 1000))
        self.assertEqual(self.limit("--soft=300", "-p", policy, FDFIT_SOFT="200", FDFIT_HARD="2000"), (300, 2000))
        self.assertEqual(self.limit("-n", "300", "-p", policy, FDFIT_SOFT="200", FDFIT_HARD="2000"), (300, 300))
        self.assertEqual(self.limit(FDFIT_SOFT="200"), (200, 200))
        self.assertEqual(self.limit(FDFIT_POLICY=policy, FDFIT_HARD="soft"), (100, 100))

    def test_quiet_by_variable_and_by_policy(self):
        self.assert_says("", "-n", "512", env={"FDFIT_QUIET": "yes"})
        self.assert_says("", "-p", self.write("q.conf", "soft = 512\nquiet = yes\n"))
        self.assert_says(f"fdfit: {WAS} -> 512:512\n", "--quiet=no", "-p", self.path("q.conf"))

    def test_variables_that_were_read_are_gone_and_others_stay(self):
        env = {"FDFIT_SOFT": "512", "FDFIT_HARD": "soft", "FDFIT_VERBOSE": "yes", "FDFIT_PORT": "tcp://10.0.0.1:80",
               "FDFIT_SERVICE_HOST": "10.0.0.1", "FDFIT": "x", "KEEP": "1"}
        state, stderr = self.state(env=env)
        names = [variable.partition("=")[0] for variable in state["environ"]]
        self.assertEqual(sorted(n for n in names if n.startswith("FDFIT")),
                         ["FDFIT", "FDFIT_PORT", "FDFIT_SERVICE_HOST"])
        self.assertIn("KEEP", names)
        foreign = [line for line in stderr.splitlines() if "FDFIT_" in line]
        self.assertEqual(len(foreign), 1, stderr)
        self.assertIn(foreign[0], [
            f"fdfit: {a} {b}: not known to fdfit, left to the workload"
            for a, b in (("FDFIT_PORT", "FDFIT_SERVICE_HOST"), ("FDFIT_SERVICE_HOST", "FDFIT_PORT"))])

    def test_foreign_variables_are_mentioned_only_when_verbose(self):
        self.assert_says(f"fdfit: {WAS} -> 512:512\n", "-n", "512", env={"FDFIT_PORT": "x"})

    def test_a_variable_that_an_argument_overrules_is_gone_too(self):
        state, _ = self.state("-n", "512", env={"FDFIT_SOFT": "100"})
        self.assertFalse([v for v in state["environ"] if v.startswith("FDFIT")])

    def test_a_bad_variable_starts_nothing(self):
        self.assert_says("fdfit: FDFIT_SOFT: 'many' is not a number, 'inherit', 'peak' or 'unlimited'\n", status=125,
                         env={"FDFIT_SOFT": "many"})
        self.assert_says("fdfit: FDFIT_SOFT: the value is empty, but should be a number, 'inherit', 'peak' or "
                         "'unlimited'\n", status=125, env={"FDFIT_SOFT": ""})


class Explain(ExecCase):
    """--explain: the decision, each value with its origin, and nothing started."""

    def explain(self, *options, status=0, **more):
        done = self.run_fdfit("--explain", *options, **more)
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return done.stdout.splitlines()

    def test_each_value_has_its_origin(self):
        policy = self.write("web.conf", "soft = peak\npeak = 100\nfallback = 1024\n\nheadroom = +200\n")
        lines = self.explain("-p", policy, "--ceiling=2000", "touch", self.path("started"),
                             env={"FDFIT_INHERITED_FDS": "close", "FDFIT_PEAK": "127"})
        self.assertEqual(lines[0], f"{WAS} -> 327:2000 (peak 127 +200)")
        for expected in (f"policy          {policy}", f"soft            peak            {policy}:1",
                         "hard            -               default", "peak            127             FDFIT_PEAK",
                         "peak-file       -               default", f"headroom        +200            {policy}:5",
                         "floor           256             default", "ceiling         2000            argument",
                         f"fallback        1024            {policy}:3", "settle          86400s          default",
                         "when-denied     fail            default",
                         "inherited-fds   close           FDFIT_INHERITED_FDS",
                         "quiet           no              default", "verbose         no              default",
                         f"command         {shutil.which('touch')}"):
            self.assertEqual(lines.count(expected), 1, f"{expected} in {lines}")
        self.assertFalse(os.path.exists(self.path("started")))

    def test_without_a_target_or_command(self):
        lines = self.explain()
        self.assertEqual(lines[0], "no limit asked for")
        self.assertFalse([line for line in lines if line.startswith(("command", "policy", "fs.nr_open"))])

    def test_nr_open_where_it_was_needed(self):
        lines = self.explain("-n", "unlimited", "--when-denied=clamp")
        self.assertIn(f"fs.nr_open      {nr_open()}", lines)

    def test_a_command_that_is_not_there(self):
        self.assertEqual(self.explain("-n", "512", "no-such-command", env={"PATH": "/usr/bin"})[-1],
                         "command         can't run 'no-such-command': not found in PATH; a start would exit with 127")

    def test_a_limit_that_cannot_be_had_is_the_error_of_a_start(self):
        done = self.run_fdfit("--explain", "-n", "3000:2999")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("soft is above hard", done.stderr)

    def test_a_long_path_is_whole(self):
        path = "/run/" + "x" * 150
        self.assertIn(f"peak-file       {path} argument", self.explain("-n", "512", f"--peak-file={path}"))

    def test_the_decision_is_that_of_a_start(self):
        for options in (("-n", "256:512"), ("--soft=inherit",), ("--soft=peak", "--peak=127")):
            started = self.run_fdfit(*options, "true").stderr
            self.assertEqual(started, f"fdfit: {self.explain(*options)[0]}\n")


if __name__ == "__main__":
    tap.main()
