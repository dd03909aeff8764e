"""Checks that the examples of docs/python.md run, and that the oldest Python can parse the package: python -m unittest test_docs."""

import ast
import glob
import os
import re
import unittest

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "python.md")


class Docs(unittest.TestCase):
    def test_examples(self):
        with open(PAGE, encoding="utf8") as f:
            examples = re.findall(r"^```python\n(.*?)^```", f.read(), re.DOTALL | re.MULTILINE)
        self.assertGreater(len(examples), 4)
        names = {}
        self.addCleanup(lambda: names["s"].close())
        for example in examples:
            exec(compile(example, PAGE, "exec"), names)

    def test_syntax(self):
        files = glob.glob(os.path.join(os.path.dirname(__file__), "..", "symmrepl", "*.py"))
        self.assertGreater(len(files), 5)
        for file in files:
            with open(file, encoding="utf8") as f:
                ast.parse(f.read(), file, feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
