"""Run the unittest cases of the calling module and print them as TAP, one line a case, for meson.

unittest has no TAP output of its own, and the packages that add one are not in every Python's path.
"""
import sys
import unittest


class _TapResult(unittest.TestResult):
    def __init__(self, stream):
        super().__init__()
        self.stream = stream
        self.number = 0

    def _line(self, ok, test, note=""):
        self.number += 1
        name = f"{type(test).__name__}.{getattr(test, '_testMethodName', test)}"
        self.stream.write(f"{'ok' if ok else 'not ok'} {self.number} - {name}{note}\n")
        self.stream.flush()

    def _failed(self, test, err):
        for line in self._exc_info_to_string(err, test).splitlines():
            self.stream.write(f"# {line}\n")
        self._line(False, test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(True, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.stream.write(f"# in {subtest}\n")
            self._failed(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line(True, test, f" # SKIP {reason}")


def main():
    """Run every TestCase of __main__ (or those named in argv) and leave with 0 if none failed, else 1."""
    loader = unittest.TestLoader()
    module = sys.modules["__main__"]
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    print(f"1..{suite.countTestCases()}" if suite.countTestCases() else "1..0 # SKIP no test here", flush=True)
    result = _TapResult(sys.stdout)
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
