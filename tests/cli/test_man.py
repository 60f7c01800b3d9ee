"""The manual pages: they name each option, key and default, their examples are true, mandoc is content."""
import os
import re

import support
import tap

MAN = os.path.join(support.SOURCE, "man")


def read(page):
    with open(os.path.join(MAN, page + ".scd"), encoding="utf-8") as file:
        return file.read()


def plain(page):
    """The source without marks for bold and underlined."""
    return re.sub(r"(?<!\w)[*_]|[*_](?!\w)", "", read(page))


def blocks(page, section):
    """The literal blocks of a page from a section on."""
    text = read(page).split(f"\n# {section}\n")[1]
    return re.findall(r"^```\n(.*?)^```\n", text, re.MULTILINE | re.DOTALL)


class Pages(support.Case):
    def setUp(self):
        super().setUp()
        self.help = support.run(support.FDFIT, "--help").stdout
        self.explain = support.run(support.FDFIT, "--explain").stdout
        #: key: default, for each key of the policy file
        self.keys = dict(re.findall(r"^([a-z-]+) +(\S+) +default$", self.explain, re.MULTILINE))
        self.assertIn("soft", self.keys)

    def test_each_option_has_its_entry(self):
        page = plain("fdfit.1")
        known = set(re.findall(r"--([a-z-]+)", self.help))
        entries = set(re.findall(r"^(?:-\w, )?--([a-z-]+)(?:=.*)?$", page, re.MULTILINE))
        self.assertEqual(entries, known)

    def test_each_entry_gives_the_values_of_help(self):
        page = plain("fdfit.1")
        for name, values in re.findall(r"--([a-z-]+)(?:=(\S+))?  ", self.help):
            entry = f"--{name}={values}" if values else f"--{name}"
            self.assertTrue(f"{entry}\n" in page, f"no entry {entry}")

    def test_each_key_has_its_entry(self):
        entries = re.findall(r"^\*([a-z-]+)\* = ", read("fdfit.conf.5"), re.MULTILINE)
        self.assertEqual(sorted(entries), sorted(self.keys))

    def test_each_default_is_given(self):
        keys = plain("fdfit.conf.5").split("\n# KEYS\n")[1].split("\n# DERIVING\n")[0]
        sections = re.split(r"^([a-z-]+) = .*$", keys, flags=re.MULTILINE)
        text = dict(zip(sections[1::2], sections[2::2]))
        for key, default in self.keys.items():
            default = {"-": None, "0s": "0", "86400s": "24h"}.get(default, default)
            if default:
                default = re.escape(default)
                words = text[key].replace("\n\t", " ")
                self.assertRegex(words, rf"default is {default}(?!\w)|(?<!\w){default}, the default", key)

    def test_each_variable_is_named(self):
        named = set(re.findall(r"\*FDFIT_([A-Z_]+)\*", read("fdfit.1").split("# ENVIRONMENT")[1]))
        self.assertEqual(named, {key.upper().replace("-", "_") for key in [*self.keys, "policy"]})

    def test_the_decision_is_printed_as_shown(self):
        policy, expected = blocks("fdfit.1", "THE DECISION")[1:3]
        self.write("app.conf", policy)
        done = support.run(support.FDFIT, "-p", "./app.conf", "--explain", "sleep", "3", cwd=self.dir,
                           env=support.clean_env(FDFIT_FLOOR="300", PATH="/usr/bin"),
                           preexec_fn=support.nofile(4096))
        self.assertEqual((done.returncode, done.stdout), (0, expected.replace("20000:20000", "4096:4096")))

    def explain_peak(self, content):
        return support.run(support.FDFIT, "--explain", "--soft=peak", "--fallback=1024", "--peak-file",
                           self.write("peak", content), preexec_fn=support.nofile(4096))

    def test_the_examples_of_deriving_are_decided_as_shown(self):
        rows = re.findall(r"^(\d+) +(\d+) +(.*)$", blocks("fdfit.conf.5", "DERIVING")[0], re.MULTILINE)
        self.assertEqual(len(rows), 4)
        for need, bound, limit in rows:
            record = f"a need={need} bound={bound} observed=86400 at=1764549000"
            done = self.explain_peak(f"fdfit-peak 1\n{record}\nend 1\n")
            self.assertEqual(done.stdout.splitlines()[0], f"nofile 4096:4096 -> {limit}")

    def test_the_peak_file_that_is_shown_is_accepted(self):
        done = self.explain_peak(blocks("fdfit.conf.5", "PEAK FILE")[0])
        self.assertEqual(done.stderr, "")
        self.assertIn("(peak 210 of ", done.stdout)

    def test_the_policies_that_are_shown_are_accepted(self):
        policies = blocks("fdfit.conf.5", "EXAMPLES")
        self.assertEqual(len(policies), 4)
        for block in policies:
            done = support.run(support.FDFIT, "--explain", "-p", self.write("policy", block),
                               preexec_fn=support.nofile(4096))
            self.assertEqual((done.returncode, done.stderr), (0, ""), block)

    def test_mandoc_is_content(self):
        scdoc, mandoc = support.need("scdoc"), support.need("mandoc")
        for page in ("fdfit.1", "fdfit.conf.5"):
            done = support.run(os.path.join(MAN, "render.sh"), scdoc, os.path.join(MAN, page + ".scd"))
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            roff = self.write(page, done.stdout)
            lint = support.run(mandoc, "-Tlint", roff)
            self.assertEqual((lint.returncode, lint.stdout), (0, ""), page)


if __name__ == "__main__":
    tap.main()
