"""Policy files: each good one starts the command, each bad one gives 125, its message, and starts nothing."""
import glob
import os
import socket
import unittest

import support
import tap

DATA = os.path.join(support.SOURCE, "tests", "data", "policy")


def data_files(kind):
    return sorted(glob.glob(os.path.join(DATA, f"{kind}-*.conf")))


class Policy(support.Case):
    def start(self, *options, env=None, **more):
        """Run a command that leaves a file; (what fdfit gave, was the command started)."""
        done = support.run(support.FDFIT, *options, "touch", self.path("started"),
                           env=support.clean_env(**(env or {})), **more)
        started = os.path.exists(self.path("started"))
        if started:
            os.unlink(self.path("started"))
        self.assertEqual(done.stdout, "")
        return done, started

    def assert_refused(self, message, *options, **more):
        done, started = self.start(*options, **more)
        self.assertEqual((done.stderr, done.returncode, started), (f"fdfit: {message}\n", 125, False))

    def assert_started(self, *options, **more):
        done, started = self.start(*options, **more)
        self.assertEqual((done.returncode, started), (0, True), done.stderr)
        return done.stderr


class Content(Policy):
    """What stands in the file. The message beside each bad one is what follows its path."""

    def test_the_data_is_there(self):
        self.assertGreaterEqual(len(data_files("ok")), 10)
        self.assertGreaterEqual(len(data_files("fail")), 40)

    def test_every_good_policy_starts_the_command(self):
        for path in data_files("ok"):
            with self.subTest(policy=os.path.basename(path)):
                self.assert_started("-p", path)

    def test_every_bad_policy_is_refused_with_its_message(self):
        for path in data_files("fail"):
            with self.subTest(policy=os.path.basename(path)):
                with open(path[:-len("conf")] + "message", encoding="utf-8") as file:
                    message = file.read().rstrip("\n")
                where = "" if message[1:2].isdigit() else "policy "
                self.assert_refused(f"{where}{path}{message}", "-p", path)

    def test_a_bad_policy_explains_nothing_either(self):
        path = os.path.join(DATA, "fail-duplicate.conf")
        self.assert_refused(f"{path}:3: soft stands twice; first on line 1", "--explain", "-p", path)

    def test_a_bad_line_is_refused_though_an_argument_overrules_it(self):
        path = self.write("bad.conf", "soft = many\n")
        self.assert_refused(f"{path}:1: soft: 'many' is not a number, 'inherit', 'peak' or 'unlimited'",
                            "--soft=5", "-p", path)

    def test_quiet_does_not_hide_the_error(self):
        path = self.write("bad.conf", "soft\n")
        self.assert_refused(f"{path}:1: no '=' in the line; write key = value", "-q", "-p", path)


class File(Policy):
    """What the file is, whose, and how it is named."""

    def test_missing(self):
        path = self.path("none.conf")
        self.assert_refused(f"policy {path}: no such file or folder", "-p", path)

    def test_a_fifo_gives_an_error_at_once(self):
        path = self.path("fifo")
        os.mkfifo(path, 0o600)
        self.assert_refused(f"policy {path}: is not a regular file", "-p", path)

    def test_a_device(self):
        self.assert_refused("policy /dev/null: is not a regular file", "-p", "/dev/null")
        self.assert_refused("policy /dev/zero: is not a regular file", "-p", "/dev/zero")

    def test_a_folder(self):
        self.assert_refused(f"policy {self.dir}: is not a regular file", "-p", self.dir)

    def test_a_socket(self):
        path = self.path("socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            done, started = self.start("-p", path)
        self.assertEqual((done.returncode, started), (125, False))
        self.assertTrue(done.stderr.startswith(f"fdfit: policy {path}: "), done.stderr)

    def test_below_a_file(self):
        path = self.write("file", "") + "/web.conf"
        self.assert_refused(f"policy {path}: a part of the path is not a folder", "-p", path)

    def test_a_loop_of_links(self):
        path = self.path("loop")
        os.symlink("loop", path)
        self.assert_refused(f"policy {path}: too many symbolic links", "-p", path)

    def test_a_link_to_a_good_file(self):
        os.symlink(self.write("web.conf", "soft = 512\n"), self.path("link"))
        self.assert_started("-p", self.path("link"))

    def test_writable_by_the_group_or_others(self):
        for mode in (0o664, 0o620, 0o646, 0o602, 0o666):
            with self.subTest(mode=oct(mode)):
                path = self.write("web.conf", "soft = 512\n", mode)
                self.assert_refused(
                    f"policy {path}: is writable by others than its owner; chmod go-w it", "-p", path)
        self.assert_started("-p", self.write("web.conf", "soft = 512\n", 0o444))

    def test_of_a_foreign_owner(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can give a file away")
        path = self.write("web.conf", "soft = 512\n")
        os.chown(path, 12345, -1)
        self.assert_refused(f"policy {path}: belongs to user 12345, not to root or the caller; chown it", "-p", path)

    def test_of_the_caller_who_is_not_root(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can become another user")
        path = self.write("web.conf", "soft = 512\n")
        os.chmod(self.dir, 0o777)
        os.chown(path, 12345, 12345)
        try:
            done, started = self.start("-p", path, user=12345, group=12345, extra_groups=[])
        except PermissionError:
            raise unittest.SkipTest("the launcher under test is not where another user can run it") from None
        self.assertEqual((done.returncode, started), (0, True), done.stderr)

    def test_not_readable(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can become another user")
        path = self.write("web.conf", "soft = 512\n", 0o600)
        os.chmod(self.dir, 0o777)
        try:
            self.assert_refused(f"policy {path}: permission denied", "-p", path, user=12345, group=12345,
                                extra_groups=[])
        except PermissionError:
            raise unittest.SkipTest("the launcher under test is not where another user can run it") from None

    def test_a_name_means_a_file_in_etc(self):
        name = f"no-such-policy-{os.getpid()}"
        self.assert_refused(f"policy /etc/fdfit/{name}.conf: no such file or folder", "-p", name)
        self.assert_refused(f"policy /etc/fdfit/{name}.conf.conf: no such file or folder", "-p", f"{name}.conf")

    def test_a_name_in_etc_is_read(self):
        etc = self.path("etc")
        os.makedirs(f"{etc}/fdfit")
        with open(f"{etc}/fdfit/web.conf", "w", encoding="ascii") as file:
            file.write("soft = 333\n")
        line = 'mount --bind "$1" /etc && shift && exec "$@"'
        trial = support.run("unshare", "-m", "sh", "-c", line, "sh", etc, "true")
        if trial.returncode != 0:
            raise unittest.SkipTest(f"no mount namespace here: {trial.stderr.strip()}")
        done = support.run("unshare", "-m", "sh", "-c", line, "sh", etc, support.FDFIT, "-p", "web", "sh", "-c",
                           "ulimit -n")
        self.assertEqual((done.stdout, done.returncode), ("333\n", 0), done.stderr)

    def test_the_variable_names_it_too(self):
        path = self.write("web.conf", "soft = 512\n")
        said = self.assert_started(env={"FDFIT_POLICY": path})
        self.assertIn("-> 512:512\n", said)
        self.assert_refused(f"policy {path}x: no such file or folder", env={"FDFIT_POLICY": path + "x"})

    def test_the_argument_names_another_than_the_variable(self):
        path = self.write("web.conf", "soft = 512\n")
        said = self.assert_started("-p", path, env={"FDFIT_POLICY": path + "x"})
        self.assertIn("-> 512:512\n", said)

    def test_an_empty_name(self):
        self.assert_refused("--policy: the value is empty, but should be a text", "-p", "")

    def test_a_name_that_is_too_long(self):
        self.assert_refused("policy: the name is too long", "-p", "n" * 5000)

    def test_it_is_opened_once_and_not_left_open(self):
        path = self.write("web.conf", "soft = 512\n")
        strace = support.need("strace")
        log = self.path("strace")
        done = support.run(strace, "-f", "-o", log, "-e", "trace=open,openat,stat,newfstatat", support.FDFIT, "-p",
                           path, support.helper("state"))
        if not os.path.exists(log) or "ptrace" in done.stderr:
            raise unittest.SkipTest(f"strace cannot trace here: {done.stderr.strip()}")
        with open(log, encoding="utf-8") as lines:
            touching = [line for line in lines if path in line and "execve" not in line]
        self.assertEqual(len(touching), 1, touching)
        self.assertIn('"fds": [0, 1, 2]', done.stdout)


if __name__ == "__main__":
    tap.main()
