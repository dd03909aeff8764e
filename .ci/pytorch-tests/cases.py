"""Lists the cases of a file of tests, or runs some. Usage: cases.py MODULE RESULTS [CASE...]

It appends a line of JSON to RESULTS for each case: [class, case] of a list, and of a run the case when it starts, and
the case with the outcome and the reason when it ends.
"""

import importlib
import json
import sys
import unittest

REASON = 2000


class Result(unittest.TestResult):
    def __init__(self, results):
        super().__init__()
        self.results, self.outcome = results, None

    def write(self, *words):
        print(json.dumps(words), file=self.results, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.outcome = ("passed", "")
        self.write(name(test))

    def stopTest(self, test):
        super().stopTest(test)
        self.write(name(test), *self.outcome)

    def addError(self, test, err):
        self.outcome = ("failed", self._exc_info_to_string(err, test)[-REASON:])

    addFailure = addError

    def addSkip(self, test, reason):
        self.outcome = ("skipped", reason)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)


def name(test):
    return ".".join(test.id().rsplit(".", 2)[-2:])


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def main(module, results, cases):
    with open(results, "a") as file:
        result, loader = Result(file), unittest.TestLoader()
        loaded = importlib.import_module(module)
        if not cases:
            for test in flat(loader.loadTestsFromModule(loaded)):
                result.write(type(test).__name__, name(test))
            return
        unittest.TestSuite(loader.loadTestsFromNames(cases, loaded)).run(result)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
