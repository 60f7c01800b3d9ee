"""The shell completions: they know the options of the program, all of them and no others."""
import os
import re

import support
import tap

FOLDER = os.path.join(support.SOURCE, "contrib", "completions")

#: Calls the completion as bash does, without a terminal: compopt works only inside a real completion.
BASH = """
compopt() { :; }
source "$1"
COMP_LINE=$2
shift 2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_fdfit
printf '%s\\n' "${COMPREPLY[@]}"
"""


def path(shell):
    return os.path.join(FOLDER, "fdfit." + shell)


def read(shell):
    with open(path(shell), encoding="utf-8") as file:
        return file.read()


def options():
    """{name: (letter or None, values or None)} from --help; values as "N|soft|inherit"."""
    text = support.run(support.FDFIT, "--help").stdout
    found = re.findall(r"^  (?:-(\w), |    )--([a-z-]+)(?:=(\S+))?", text, re.MULTILINE)
    return {name: (letter or None, values or None) for letter, name, values in found}


def words(values):
    """The words among the values of an option; what is in capitals stands for something else."""
    return {word for word in (values or "").split("|") if word.islower()}


def split(line):
    """A command line's words as bash's completion gets them: it parts them at '=' and ':' too."""
    found = [word for part in line.split() for word in re.findall(r"[=:]+|[^=:]+", part)]
    return found + [""] if line.endswith(" ") else found


def ask_bash(line):
    done = support.run(support.need("bash"), "--norc", "-c", BASH, "bash", path("bash"), line, *split(line))
    if done.stderr:
        raise AssertionError(f"bash said: {done.stderr}")
    return set(done.stdout.split())


def ask_fish(line):
    script = f"source {path('fish')}; complete -C '{line}'"
    done = support.run(support.need("fish"), "--no-config", "-c", script)
    if done.stderr:
        raise AssertionError(f"fish said: {done.stderr}")
    return {found.split("\t")[0] for found in done.stdout.splitlines()}


class Options(support.Case):
    def setUp(self):
        super().setUp()
        self.options = options()
        self.assertIn("soft", self.options)
        self.assertIn("version", self.options)

    def test_bash_has_the_programs_options(self):
        long = {f"--{name}" + ("=" if values else "") for name, (_, values) in self.options.items()}
        self.assertEqual(ask_bash("fdfit --"), long)
        short = {f"-{letter}" for letter, _ in self.options.values() if letter}
        self.assertEqual(ask_bash("fdfit -"), long | short)

    def test_both_names_are_completed(self):
        self.assertEqual(ask_bash("fdfit-init --"), ask_bash("fdfit --"))
        self.assertEqual(read("zsh").splitlines()[0].split(), ["#compdef", "fdfit", "fdfit-init"])

    def test_fish_completes_both_names(self):
        found = ask_fish("fdfit-init --")
        self.assertIn("--soft", found)
        self.assertEqual(found, ask_fish("fdfit --"))

    def test_zsh_has_the_programs_options(self):
        text = read("zsh")
        found = re.findall(r"(?:^    '|,)--([a-z-]+)(=?)", text, re.MULTILINE)
        for name, values in found:
            self.assertIn(name, self.options)
            self.assertEqual(bool(values), bool(self.options[name][1]), name)
        self.assertEqual({name for name, _ in found}, set(self.options))
        letters = {letter for letter, _ in self.options.values() if letter}
        self.assertEqual(set(re.findall(r"\{-(\w)", text)), letters)

    def test_fish_has_the_programs_options(self):
        entry = r"^complete -c fdfit (?:-s (\w) )?-l ([a-z-]+) (-x|-r)?"
        lines = re.findall(entry, read("fish"), re.MULTILINE)
        found = {name: (letter or None, bool(takes)) for letter, name, takes in lines}
        expected = {name: (letter, bool(values)) for name, (letter, values) in self.options.items()}
        self.assertEqual(found, expected)

    def test_bash_offers_the_words_that_are_values(self):
        for name, (_, values) in self.options.items():
            if words(values):
                self.assertEqual(ask_bash(f"fdfit --{name} "), words(values), name)
                self.assertEqual(ask_bash(f"fdfit -q --{name}="), words(values), name)

    def test_zsh_and_fish_offer_the_words_that_are_values(self):
        for name, (_, values) in self.options.items():
            if not words(values):
                continue
            in_zsh = re.search(rf"--{name}=.*:\(([a-z ]+)\)'", read("zsh"))
            in_fish = re.search(rf"-l {name} -x -a '([a-z ]+)'", read("fish"))
            self.assertEqual(set(in_zsh.group(1).split()), words(values), name)
            self.assertEqual(set(in_fish.group(1).split()), words(values), name)


class Command(support.Case):
    """Behind the options comes the command. A program of our own on PATH is what is to be found."""

    def setUp(self):
        super().setUp()
        self.write("fdfittestprogram", "#!/bin/sh\n", 0o755)
        old = os.environ["PATH"]
        os.environ["PATH"] = f"{self.dir}:{old}"
        self.addCleanup(os.environ.__setitem__, "PATH", old)

    def check(self, ask, joined):
        for name, (letter, values) in options().items():
            ways = [f"--{name} 16" if values else f"--{name}"]
            if values:
                ways.append(f"--{name}=16")
                self.assertNotIn("fdfittestprogram", ask(f"fdfit --{name} fdfittestp"), name)
            if letter and values:
                ways += [f"-{letter} 16", f"-{letter}16"] + [f"-q{letter} 16"] * joined
            for way in ways:
                self.assertIn("fdfittestprogram", ask(f"fdfit {way} fdfittestp"), way)
        for line in ("fdfit fdfittestp", "fdfit -- fdfittestp", "fdfit -n 16:32 -- fdfittestp"):
            self.assertIn("fdfittestprogram", ask(line), line)

    def test_bash_completes_the_command(self):
        self.check(ask_bash, joined=True)

    def test_fish_completes_the_command(self):
        # fish's own helper for commands behind options does not look into joined short options
        self.check(ask_fish, joined=False)

    def test_bash_completes_the_arguments_of_the_command(self):
        file = self.write("somefile", "")
        for line in (f"fdfit -n 16 cat {file[:-2]}", f"fdfit -n 16 -- cat --soft {file[:-2]}"):
            self.assertEqual(ask_bash(line), {file})


class Syntax(support.Case):
    def check(self, shell):
        done = support.run(support.need(shell), "-n", path(shell))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")


if __name__ == "__main__":
    tap.main()
