"""The policies of contrib: the program accepts each, also with the lines that are switched off in it."""
import os
import re
import shutil

import support
import tap

FOLDER = os.path.join(support.SOURCE, "contrib", "policies")


class Policies(support.Case):
    def policies(self):
        names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".conf"))
        self.assertTrue(names)
        return [os.path.join(FOLDER, name) for name in names]

    def explain(self, policy):
        """--explain under a copy of a policy, with the owner and mode that fdfit asks for."""
        copy = self.path(os.path.basename(policy))
        if policy != copy:
            shutil.copyfile(policy, copy)
        os.chmod(copy, 0o644)
        done = support.run(support.FDFIT, "--explain", "-p", copy, "true",
                           preexec_fn=support.nofile(4096))
        self.assertEqual((done.returncode, done.stderr), (0, ""), policy)
        return done.stdout

    def test_each_policy_is_accepted_and_decides(self):
        for policy in self.policies():
            self.assertRegex(self.explain(policy), r"^nofile 4096:4096 -> \d+:\d+", policy)

    def test_python2_service_is_what_it_says(self):
        policy = os.path.join(FOLDER, "python2-service.conf")
        self.assertIn("nofile 4096:4096 -> 1024:1024\n", self.explain(policy))

    def test_python2_service_with_its_second_stage(self):
        with open(os.path.join(FOLDER, "python2-service.conf"), encoding="utf-8") as file:
            text = file.read()
        first, switched_off = re.subn(r"^#(?=[a-z-]+ = )", "", text, flags=re.MULTILINE)
        self.assertEqual(switched_off, 5)
        second = re.sub(r"^(soft = 1024|hard = soft)$", "", first, flags=re.MULTILINE)
        self.assertIn("nofile 4096:4096 -> 256:1024 (peak 127 + 50%, floor 256)\n",
                      self.explain(self.write("second.conf", second)))

    def test_less_than_the_policy_wants_is_no_reason_not_to_start(self):
        policy = self.path("low.conf")
        shutil.copyfile(os.path.join(FOLDER, "python2-service.conf"), policy)
        os.chmod(policy, 0o644)
        done = support.run(support.FDFIT, "-p", policy, "true", preexec_fn=support.nofile(512))
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    tap.main()
