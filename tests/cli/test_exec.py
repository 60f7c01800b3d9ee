"""Exec mode: the command runs as if fdfit had not been there, but for its limit; and what fdfit says when it cannot."""
import filecmp
import json
import os
import shutil
import subprocess

import support
import tap
from exec_support import ExecCase, WAS


class Invisible(ExecCase):
    """The state of a command, started directly and through fdfit, is the same but for the limit."""

    def both(self, *start_with, prefix=(), options=("-q", "-n", "512:600"), **more):
        """(direct, through): the two states, both after start-with has set things up."""
        states = []
        for name, launcher in (("direct", ()), ("through", (support.FDFIT, *options))):
            out = self.path(name)
            prepared = (support.helper("start-with"), *start_with, "--") if start_with else ()
            child = subprocess.Popen([*prepared, *prefix, *launcher, support.helper("state"), out],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     **more)
            self.assertEqual(child.wait(support.PATIENCE), 0)
            states.append(self.read_state(out))
            self.assertEqual(states[-1].pop("pid"), child.pid, "the command is the process that was started")
            states[-1]["pgid"] -= child.pid
            states[-1]["sid"] -= child.pid
            self.assertEqual(states[-1]["argv"].pop(), out)
        self.assertEqual(states[1].pop("nofile"), [512, 600])
        states[0].pop("nofile")
        return states

    def assert_same(self, *start_with, **more):
        more.setdefault("start_new_session", True)
        direct, through = self.both(*start_with, **more)
        self.assertEqual(through, direct)
        return direct

    def test_as_started_by_default(self):
        self.assert_same()

    def test_descriptors(self):
        pipes = os.pipe()
        self.addCleanup(os.close, pipes[0])
        self.addCleanup(os.close, pipes[1])
        state = self.assert_same(pass_fds=pipes)
        self.assertEqual(state["fds"][:5], [0, 1, 2, *pipes])

    def test_standard_descriptors_that_are_closed(self):
        for closed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
            with self.subTest(closed=closed):
                policy = self.write("web.conf", "soft = 512\nhard = 600\n")
                state = self.assert_same(*(f"close={fd}" for fd in closed), options=("-v", "-p", policy))
                self.assertEqual(state["fds"], [fd for fd in (0, 1, 2) if fd not in closed])

    def test_masks_and_ignored_signals(self):
        for block, ignore in (("0", "0"), ("ffffffffffffffff", "0"), ("0", "fffffffffffbfeff"),
                              ("0000000380000001", "0000000700001001"), ("4000", "1000")):
            with self.subTest(block=block, ignore=ignore):
                state = self.assert_same(f"block={block}", f"ignore={ignore}")
                kill_and_stop = 1 << 8 | 1 << 18
                self.assertEqual(int(state["SigBlk"], 16), int(block, 16) & ~kill_and_stop)
                self.assertEqual(int(state["SigIgn"], 16), int(ignore, 16) & ~kill_and_stop)
                self.assertEqual(int(state["SigCgt"], 16), 0)

    def test_environment(self):
        env = {"A": "1", "EMPTY": "", "SPACED NAME": "x y", "PATH": "/nowhere", "LANG": "tlh", "FDFITX": "1",
               "LD_BIND_NOW": "1", "UNPRINTABLE": "\x01\x7f\udcff"}
        state = self.assert_same(env=env)
        self.assertEqual(len(state["environ"]), len(env))
        self.assertEqual(self.assert_same(env={})["environ"], [])

    def test_umask_niceness_and_folder(self):
        def change():
            os.umask(0o027)
            os.nice(3)

        state = self.assert_same(preexec_fn=change, cwd=self.dir)
        self.assertEqual((state["umask"], state["nice"], state["cwd"]), (0o027, os.nice(0) + 3, self.dir))

    def test_group_and_session(self):
        for new_session in (False, True):
            direct, through = self.both(start_new_session=new_session)
            if not new_session:
                for state in direct, through:
                    del state["pgid"], state["sid"]  # the test's own; less two different numbers
            self.assertEqual(through, direct)

    def test_no_new_privs(self):
        state = self.assert_same(prefix=(support.need("setpriv"), "--no-new-privs"))
        self.assertEqual(state["NoNewPrivs"], "1")

    def test_argv(self):
        arguments = ["", "-n", "--", "a b", "\n", "\udcff", "--soft=5"]
        done = self.run_fdfit("-q", "-n", "512", "--", "sh", "-c", 'printf "<%s>" "$0" "$@"', "name", *arguments)
        self.assertEqual(done.stdout, "".join(f"<{a}>" for a in ["name", *arguments]))

    def test_argv_0_is_the_command_as_it_was_typed(self):
        folder, name = os.path.split(support.helper("state"))
        for command in (name, f"{folder}/../{os.path.basename(folder)}/{name}"):
            done = self.run_fdfit("-q", "-n", "512", command, env={"PATH": folder})
            self.assertEqual(json.loads(done.stdout)["argv"], [command])

    def test_without_a_command_name(self):
        done = support.run("true", executable=support.FDFIT, env=support.clean_env())
        self.assertEqual(done.returncode, 125)

    def test_status_and_death_of_the_command(self):
        for status in (0, 1, 99, 125, 126, 127, 128, 255):
            done = self.run_fdfit("-q", "-n", "512", support.helper("die"), "exit", str(status))
            self.assertEqual((done.returncode, done.stderr), (status, ""))
        for signal in (1, 2, 9, 11, 13, 15, 34):
            done = self.run_fdfit("-q", "-n", "512", support.helper("die"), "signal", str(signal))
            self.assertEqual((done.returncode, done.stderr), (-signal, ""))


class Messages(ExecCase):
    """One line on stderr, whatever stderr is."""

    def test_a_broken_pipe_as_stderr_is_no_death_and_changes_no_disposition(self):
        for ignore in ("0", "1000"):  # SIGPIPE is 13
            with self.subTest(ignored=ignore):
                reader, writer = os.pipe()
                os.close(reader)
                out = self.path("state")
                done = support.run(support.helper("start-with"), f"ignore={ignore}", "--", support.FDFIT, "-v", "-n",
                                   "512", support.helper("state"), out, stderr=writer,
                                   env=support.clean_env(FDFIT_X="1"))
                os.close(writer)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(int(self.read_state(out)["SigIgn"], 16), int(ignore, 16))

    def test_a_broken_pipe_as_stderr_leaves_the_status_of_an_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_fdfit("--nonsense", stderr=writer)
        os.close(writer)
        self.assertEqual(done.returncode, 125)

    def test_a_full_device_as_stderr(self):
        with open("/dev/full", "wb") as full:
            done = self.run_fdfit("-n", "512", "echo", "started", stderr=full)
        self.assertEqual((done.stdout, done.returncode), ("started\n", 0))

    def test_a_full_device_as_stdout(self):
        for option in ("--version", "--help", "--explain"):
            with self.subTest(option=option), open("/dev/full", "wb") as full:
                done = self.run_fdfit(option, stdout=full)
                self.assertEqual((done.stderr, done.returncode),
                                 ("fdfit: can't write to stdout: no space left\n", 125))

    def test_no_message_goes_into_a_file_that_took_descriptor_2(self):
        """With stderr closed, a file that fdfit opens would be descriptor 2, and its messages would go into it."""
        dest = self.path("copy")
        done = support.run(support.helper("start-with"), "close=0", "close=1", "close=2", "--", support.FDFIT,
                           "--install", dest, env=support.clean_env())
        self.assertEqual(done.returncode, 125)  # it has no stdout to say so on
        self.assertTrue(filecmp.cmp(dest, shutil.which(support.FDFIT), shallow=False))

    def test_quiet_leaves_only_errors(self):
        self.assert_says("", "-q", "-n", "512")
        self.assert_says("", "--quiet", "-v", "-n", "512")
        self.assert_says(f"fdfit: {WAS} -> 512:512\n", "--quiet=no", "-n", "512")
        self.assert_says("fdfit: --soft: 'x' is not a number, 'inherit', 'peak' or 'unlimited'\n", "-q", "--soft=x",
                         status=125)

    def test_no_limit_asked_for(self):
        self.assert_says("fdfit: no limit asked for; give -n SOFT[:HARD], or soft = N in a policy (-p)\n", status=125)

    def test_no_command(self):
        line = "fdfit: no command to start; usage: fdfit [options] [--] COMMAND [ARG...], or fdfit --help\n"
        for arguments in ((), ("-n", "512"), ("-n", "512", "--")):
            done = self.run_fdfit(*arguments)
            self.assertEqual((done.stderr, done.returncode, done.stdout), (line, 125, ""))

    def test_bad_options_start_nothing(self):
        for options, line in (
                (("--sotf=5",), "unknown option '--sotf'; did you mean '--soft'?"),
                (("-Z",), "unknown option '-Z'; fdfit --help lists them"),
                (("-n", "5x"), "--nofile: '5x' is not a number or 'unlimited'"),
                (("-n", ""), "--nofile: the value is empty, but should be a text"),
                (("-n", ":"), "--nofile: no limit in it; write SOFT, SOFT:HARD, SOFT: or :HARD")):
            done = self.run_fdfit(*options, "touch", self.path("started"))
            self.assertEqual((done.stderr, done.returncode), (f"fdfit: {line}\n", 125))
            self.assertFalse(os.path.exists(self.path("started")))

    def test_version_and_help(self):
        with open(os.path.join(support.SOURCE, "meson.build"), encoding="ascii") as file:
            version = file.read().split("version: '")[1].split("'")[0]
        for option in ("--version", "-V"):
            done = self.run_fdfit(option)
            self.assertEqual((done.stdout, done.stderr, done.returncode), (f"fdfit {version}\n", "", 0))
        for option in ("--help", "-h"):
            done = self.run_fdfit(option, "--", "false")
            self.assertEqual((done.stderr, done.returncode), ("", 0))
            self.assertTrue(done.stdout.startswith("Usage: fdfit [options] [--] COMMAND [ARG...]\n"))


class Search(ExecCase):
    """126 and 127, and the search for the command, as execvp(3) does it."""

    def setUp(self):
        super().setUp()
        for folder in "abc":
            os.mkdir(self.path(folder))
        self.write("a/both", "#!/bin/sh\necho a\n", 0o644)
        self.write("b/both", "#!/bin/sh\necho b\n", 0o755)
        self.write("c/both", "#!/bin/sh\necho c\n", 0o755)
        self.write("b/text", "echo text\n", 0o755)
        self.write("b/empty", "", 0o755)
        self.write("b/lost", "#!/nonexistent/interpreter\n", 0o755)

    def attempt(self, command, path):
        env = {} if path is None else {"PATH": ":".join(self.path(p) if p else "" for p in path)}
        done = support.run(support.FDFIT, "-q", "-n", "512", command, env=env, cwd=self.path("c"))
        return done.stdout, done.stderr, done.returncode

    def assert_fails(self, command, path, status, reason):
        self.assertEqual(self.attempt(command, path), ("", f"fdfit: can't run '{command}': {reason}\n", status))

    def test_the_first_that_can_be_run_is(self):
        self.assertEqual(self.attempt("both", "bc"), ("b\n", "", 0))
        self.assertEqual(self.attempt("both", "cb"), ("c\n", "", 0))
        self.assertEqual(self.attempt("both", "ac"), ("c\n", "", 0))
        self.assertEqual(self.attempt("both", ["none", "b/both", "b"]), ("b\n", "", 0))

    def test_an_empty_part_is_the_working_folder(self):
        self.assertEqual(self.attempt("both", ["", "b"]), ("c\n", "", 0))
        self.assertEqual(self.attempt("both", ["a", ""]), ("c\n", "", 0))
        self.assertEqual(self.attempt("both", [""]), ("c\n", "", 0))

    def test_a_slash_is_no_search(self):
        self.assertEqual(self.attempt("./both", "b"), ("c\n", "", 0))
        self.assert_fails("./none", "b", 127, "no such file")

    def test_a_default_where_there_is_no_path(self):
        self.assertEqual(self.attempt("true", None), ("", "", 0))

    def test_not_found(self):
        self.assert_fails("none", "abc", 127, "not found in PATH")
        self.assert_fails("", "abc", 127, "no such file")
        self.assert_fails("both/x", "abc", 127, "a part of the path is not a folder")

    def test_found_but_not_executable(self):
        self.assert_fails("both", "a", 126, "permission denied")
        self.assert_fails("both", ["a", "none"], 126, "permission denied")
        self.assert_fails("../a/both", "b", 126, "permission denied")
        self.assert_fails("/", "b", 126, "permission denied")

    def test_a_script_without_its_first_line_is_never_run_by_a_shell(self):
        reason = "neither a program of this machine nor a script with a '#!' line; name its interpreter"
        for name in ("text", "empty"):
            self.assert_fails(name, "b", 126, reason)

    def test_a_missing_interpreter_is_named_as_such(self):
        self.assert_fails("lost", "b", 126,
                          "its interpreter (of its '#!' line, or its dynamic loader) is missing")

    def test_a_name_with_control_characters_is_escaped(self):
        done = self.run_fdfit("-q", "-n", "512", "a\033[31m\n", env={"PATH": "/usr/bin"})
        self.assertEqual((done.stderr, done.returncode),
                         ("fdfit: can't run 'a\\x1b[31m\\x0a': not found in PATH\n", 127))


if __name__ == "__main__":
    tap.main()
