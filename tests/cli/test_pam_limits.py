"""limits.conf as src/inspect reads it, beside the real pam_limits of this machine: made files, the same values."""
import os
import random
import unittest

import support
import tap

#: What a login begins with. Every value in the files is lower, so that no capability is needed.
SOFT, HARD = 1100, 1200
#: PID 1's, which Debian's pam_limits takes for what no line sets.
PID1 = 1150

#: Users that the machine need not have: /etc is covered in a mount namespace.
PASSWD = ("root:x:0:0:root:/root:/bin/sh\nanna:x:4321:4400:Anna:/:/bin/sh\n"
          "jobs:x:4322:4500::/:/bin/sh\nother:x:4323:4600::/:/bin/sh\n")
GROUP = "root:x:0:\nstaff:x:4400:\nbatch:x:4500:\ndb:x:4700:anna,other\nothers:x:4600:\n"
USERS = ("root", "anna", "jobs", "other")

DOMAINS = ("*", "*", "anna", "jobs", "root", "@staff", "@batch", "@db", "@root", "4321:", ":4322", "4000:4322", "@:4700",
           "@4400:", "@4400:4500", "x:1", ":", "%", "%db", "@nobody", "nobody")
TYPES = ("soft", "hard", "-", "Soft", "both")
ITEMS = ("nofile", "nofile", "nofile", "NOFILE", "core", "nproc")

SESSION = """
set -e
for name in passwd group security os-release; do mount --bind "$1/etc/$name" "/etc/$name"; done
mount --bind "$1/limits" /proc/1/limits
exec runuser -u "$2" -- sed -n 's/^Max open files *//p' /proc/self/limits
"""


class BesidePam(support.Case):
    def setUp(self):
        super().setUp()
        if "FDFITCTL" not in os.environ:
            raise unittest.SkipTest("built without fdfitctl, whose reader this is about")
        for program in ("unshare", "runuser"):
            support.need(program)
        try:
            with open("/etc/pam.d/runuser", encoding="utf-8") as file:
                if "pam_limits.so" not in file.read():
                    raise unittest.SkipTest("runuser does not go through pam_limits here")
        except FileNotFoundError as error:
            raise unittest.SkipTest("runuser does not go through PAM here") from error
        if support.run("unshare", "-m", "true").returncode:
            raise unittest.SkipTest("no mount namespace can be made here")
        os.makedirs(self.path("etc/security/limits.d"))
        with open("/etc/os-release", "rb") as file:
            self.write("etc/os-release", file.read())
        with open("/proc/1/limits", encoding="ascii") as file:
            lines = [f"Max open files            {PID1:<20} {PID1:<20} files     \n" if line.startswith("Max open files") else line
                     for line in file]
        self.write("limits", "".join(lines))
        self.write("etc/passwd", PASSWD)
        self.write("etc/group", GROUP)

    def pam(self, user):
        done = support.run("unshare", "-m", "--propagation", "private", "sh", "-c", SESSION, "sh", self.dir, user,
                           preexec_fn=support.nofile(SOFT, HARD))
        self.assertEqual((done.returncode, done.stderr), (0, ""), self.files())
        return tuple(int(value) for value in done.stdout.split()[:2])

    def ours(self, user):
        done = support.run(support.helper("limits_reader"), self.dir, user, str(SOFT), str(HARD), str(PID1))
        self.assertEqual((done.returncode, done.stderr), (0, ""), self.files())
        return tuple(int(value) for value in done.stdout.split())

    def files(self):
        with open(self.path("etc/security/limits.conf"), encoding="utf-8") as first, \
                open(self.path("etc/security/limits.d/a.conf"), encoding="utf-8") as second:
            return f"limits.conf:\n{first.read()}\na.conf:\n{second.read()}"

    def assert_same(self, first, second=""):
        self.write("etc/security/limits.conf", first)
        self.write("etc/security/limits.d/a.conf", second)
        for user in USERS:
            with self.subTest(user=user):
                self.assertEqual(self.ours(user), self.pam(user), f"{user}\n{self.files()}")

    def test_ranks_and_order(self):
        self.assert_same("anna soft nofile 300\n* - nofile 400\n@db hard nofile 500\n", "* soft nofile 350\n")
        self.assert_same("@staff - nofile 300\n@db - nofile 310\n* - nofile 400\n:4321 soft nofile 200\n")

    def test_exempt(self):
        self.assert_same("* - nofile 400\nanna -\n@batch -\n", "anna - nofile 200\njobs - nofile 210\n")
        self.assert_same("root hard nofile 400\n", "@root -\n")

    def test_soft_above_hard(self):
        self.assert_same("* soft nofile 600\n* hard nofile 500\nroot soft nofile 400\nroot hard nofile 300\n")

    def test_values(self):
        self.assert_same("* soft nofile 600k\n* hard nofile 700 800\nanna soft nofile x\n#anna - nofile 3\njobs - nofile #7\n")

    def test_made_files(self):
        chance = random.Random(20)
        for _ in range(12):
            lines = [[], []]
            for _ in range(chance.randrange(2, 9)):
                line = [chance.choice(DOMAINS), chance.choice(TYPES), chance.choice(ITEMS), str(chance.randrange(200, 900))]
                chance.choice(lines).append("\t".join(line[:chance.choice((4, 4, 4, 4, 4, 4, 4, 3, 2))]))
            self.assert_same(*("".join(line + "\n" for line in some) for some in lines))


if __name__ == "__main__":
    tap.main()
