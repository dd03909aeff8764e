"""The examples of docs/python.md run: python -m unittest test_docs."""

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


if __name__ == "__main__":
    unittest.main()
