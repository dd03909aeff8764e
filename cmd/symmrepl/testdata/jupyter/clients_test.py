"""Notebooks and consoles on the kernel: python -m unittest clients_test."""

import base64
import glob
import json
import math
import os
import pty
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import nbformat
import yaml
from jupyter_core.paths import jupyter_data_dir
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNEL = "symmrepl"
SPEC = {"kernelspec": {"name": KERNEL, "display_name": KERNEL, "language": "go"}}


def notebook(*cells):
    return new_notebook(cells=[new_code_cell(c) for c in cells], metadata=SPEC)


def result(cell):
    return "".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)


class Clients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name):
        return os.path.join(self.folder, name)

    def jupyter(self, *command):
        """Runs a program of Jupyter with the wheel that is beside the kernel; returns its output."""
        wheels = glob.glob(os.path.join(jupyter_data_dir(), "kernels", KERNEL, "*.whl"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", self.file("modules"), *wheels], check=True)
        environment = {**os.environ, "PYTHONPATH": self.file("modules")}
        return subprocess.run([sys.executable, "-m", *command], env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def test_nbclient(self):
        nb = notebook("x := symm.Rank()", "x * 2", 'fmt.Println("hi")\npanic("stop")', "never()")
        with self.assertRaises(CellExecutionError) as failed:
            NotebookClient(nb, timeout=60).execute()
        self.assertIn("In[3]:2:1: panic: stop", str(failed.exception))
        self.assertEqual(result(nb.cells[1]), "[0] 0\n[1] 2")
        self.assertEqual(nb.cells[2].outputs[0]["text"], "[0,1] hi\n")
        self.assertEqual([c.execution_count for c in nb.cells], [1, 2, 3, None])

    def test_exported_widgets(self):
        """The page of a notebook has the last picture of a widget's function; a page with stored widgets has their models, with the last picture."""
        nb = notebook('display.Interact(func(n int) *chart.Chart { return chart.Lines([]float64{0, float64(n)}) }, display.Slider("n", 2, 1, 64))',
                      'display.Set("n", 7)', "chart.Lines([]float64{0, 7})", "chart.Lines([]float64{0, 2})")
        NotebookClient(nb, timeout=60).execute()
        drawn, last, first = ("".join(o.data["image/png"]) for i in (0, 2, 3) for o in nb.cells[i].outputs[-1:])
        view = nb.cells[0].outputs[-1].data["application/vnd.jupyter.widget-view+json"]["model_id"]
        self.assertTrue(drawn == last != first)
        self.assertIn("n: 7 of 1 to 64", nb.cells[0].outputs[-1].data["text/plain"])
        models = nb.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
        self.assertIn(view, models)
        outputs, = (m["state"]["outputs"] for m in models.values() if m["model_name"] == "OutputModel")
        self.assertEqual([o["data"]["image/png"] for o in outputs], [last])
        del nb.cells[2:], nb.metadata["widgets"]  # as a file whose widgets were not stored, without the pictures beside
        page = HTMLExporter().from_notebook_node(nb)[0]
        picture = "".join(nb.cells[0].outputs[-1].data["image/svg+xml"])
        forms = [base64.b64encode(picture.encode()).decode(), picture[picture.index("<svg"):], last]
        self.assertTrue(any(form.strip() in page for form in forms), page[-2000:])
        for word in ("model not found", "widget-view+json", first):
            self.assertNotIn(word, page)

    def example(self, name):
        """Runs an example of gophernotes and returns its code cells before and after."""
        stored = nbformat.read(os.path.join("gophernotes", name + ".ipynb"), 4)
        nb = nbformat.from_dict(stored)
        NotebookClient(nb, timeout=60, kernel_name=KERNEL, extra_arguments=["--ranks", "1"]).execute()
        return [(old, new) for old, new in zip(stored.cells, nb.cells, strict=True) if old.cell_type == "code"]

    def test_gophernotes_display(self):
        forms = lambda cell: [{kind: text for kind, text in o.data.items() if kind != "text/plain"} for o in cell.outputs]
        for old, new in self.example("Display_excerpt"):
            self.assertEqual(forms(new), forms(old))
            self.assertGreater(len(new.outputs), 0)

    def test_gophernotes_matrix_operations(self):
        for old, new in self.example("Matrix_Operations"):
            self.assertEqual(result(new), result(old))

    def test_gophernotes_worker_pools(self):
        """The stored output calls every worker the fourth, because Go then had one variable for all rounds of a loop."""
        *others, (_, last) = self.example("Worker_Pools")
        self.assertEqual([result(new) for _, new in others], [""] * len(others))
        said = [re.fullmatch(r"worker [123] processing job (\d)", line)[1] for line in result(last).splitlines()]
        self.assertEqual(sorted(said), list("123456789"))

    def test_latency(self):
        nb = notebook(*[f"{i} + 1" for i in range(500)])
        client, took = NotebookClient(nb, timeout=60, extra_arguments=["--ranks", "4"]), []
        with client.setup_kernel():
            for i, cell in enumerate(nb.cells):
                start = time.perf_counter()
                client.execute_cell(cell, i)
                took.append(1000 * (time.perf_counter() - start))
        self.assertEqual(result(nb.cells[499]), "[0-3] 500")
        print(f"a cell from nbclient: {statistics.median(took):.2f} ms in the median of {len(took)}, with 4 ranks", file=sys.stderr)

    def test_nbconvert(self):
        nb = notebook("a := []int{1, 2}", "len(a) + symm.WorldSize()")
        nb.cells.insert(0, new_markdown_cell("# A notebook"))
        nbformat.write(nb, self.file("in.ipynb"))
        convert = [sys.executable, "-m", "jupyter", "nbconvert", "--log-level", "ERROR"]
        subprocess.run([*convert, "--to", "notebook", "--execute", "--output", "out.ipynb", self.file("in.ipynb")], check=True)
        out = nbformat.read(self.file("out.ipynb"), 4)
        self.assertEqual(result(out.cells[2]), "[0,1] 4")
        self.assertEqual(out.metadata.language_info.name, "go")

    def test_script(self):
        """nbconvert makes a notebook a script; symmrepl run runs the script, with the same output."""
        nb = notebook(
            "x := symm.Rank()\nx * 2", ":on 1\n$ echo /nosuch/*; echo '`'\nfmt.Println(x)", "%%rank [0]\n// %% no cell\nx + 40", "%on all", "s := `\n// %% raw\n`\ns", "", "x?",
            "x - 1")
        nb.cells.insert(0, new_markdown_cell("# A notebook\n\n%%rank [1] is text\n*/ `"))
        nb.metadata.language_info = {"name": "go", "file_extension": ".go", "nbconvert_exporter": "script"}
        nbformat.write(nb, self.file("in.ipynb"))
        client = NotebookClient(nb, timeout=60)
        client.execute()
        self.jupyter("jupyter", "nbconvert", "--log-level", "ERROR", "--to", "script", self.file("in.ipynb"))
        with open(os.path.join(jupyter_data_dir(), "kernels", KERNEL, "kernel.json")) as f:
            program, *_ = json.load(f)["argv"]
        ran = subprocess.run([program, "run", "-n", "2", self.file("in.go")], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        shown = [result(c) for c in nb.cells if c.cell_type == "code"]
        self.assertEqual(shown[:3], ["[0] 0\n[1] 2", "/nosuch/*\n`\n[1] 1\n", "[0] 40"])
        self.assertEqual(ran.stdout.split(), "\n".join([*shown[:6], "var x int", shown[7]]).split())

    PARAMETERS = {
        "n": 21, "name": 'a "q"\n\\é😀', "x": 2.0, "limit": -math.inf, "odd": math.nan, "yes": True, "nothing": None,
        "list": [1, 0.5, "é", None, [False]], "table": {"k\"é": {"m": None}, "l": []},
    }

    def papermill(self, *options):
        """Runs a notebook with parameters by papermill's command line; returns the outputs of n and of the other parameters."""
        nb = notebook("// parameters", "n, name, x, limit, odd, yes := 1, \"\", 1., 0., 0., false\nvar nothing, list, table any", "n * symm.WorldSize()",
                      "math.IsNaN(odd)", "[]any{name, x, limit, yes, nothing, list, table}")
        nb.cells[1].metadata["tags"] = ["parameters"]
        nbformat.write(nb, self.file("in.ipynb"))
        self.assertNotIn("unknown parameter", self.jupyter("papermill", "--no-progress-bar", *options, self.file("in.ipynb"), self.file("out.ipynb")))
        return [result(c).replace("[0,1] ", "") for c in nbformat.read(self.file("out.ipynb"), 4).cells[3:]]

    def test_papermill_values(self):
        self.assertEqual(self.papermill("-p", "n", "21", "-p", "name", 'a "b"', "-p", "x", "0.5", "-p", "yes", "True", "-r", "list", "7"), [
            "42", "false", '[]any{"a \\"b\\"", 0.5, 0, true, nil, "7", nil}'])

    def test_papermill_help(self):
        """papermill lists the parameters that the notebook declares, with their types, values and comments."""
        nb = notebook("n := 1 // how many\nvar name string\nvar x float64 = 0.5\na, b := 1, 2\nurl := \"http://here\"\nfmt.Println(n)")
        nb.cells[0].metadata["tags"] = ["parameters"]
        nbformat.write(nb, self.file("in.ipynb"))
        listed = self.jupyter("papermill", "--help-notebook", self.file("in.ipynb")).partition("Parameters inferred for notebook")[2].splitlines()[1:]
        self.assertEqual([" ".join(line.split()) for line in listed if line.strip()], [
            "n: Unknown type (default 1) how many", "name: string (default )", "x: float64 (default 0.5)", "a: Unknown type (default )", "b: Unknown type (default )",
            'url: Unknown type (default "http://here")'])

    def test_papermill_file(self):
        self.assertEqual(self.papermill("-y", yaml.safe_dump(self.PARAMETERS, allow_unicode=True)), ["42", "true", r"""[]any{
	"a \"q\"\n\\é😀",
	2,
	-Inf,
	true,
	nil,
	[]interface{}{1, 0.5, "é", nil, []interface{}{false}},
	map[string]interface{}{"k\"é": map[string]interface{}{"m": nil}, "l": []interface{}{}},
}"""])

    def test_console(self):
        """jupyter console at a terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [sys.executable, "-m", "jupyter", "console", "--kernel", KERNEL, "--simple-prompt"])
        self.addCleanup(os.close, terminal)
        seen = b""

        def read():
            """Returns whether there was output; there is none after the console has ended."""
            nonlocal seen
            self.assertTrue(select.select([terminal], [], [], 60)[0], seen)
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the console has closed it
                more = b""
            seen += more
            return more != b""

        def expect(pattern):
            nonlocal seen
            while not (found := re.search(pattern, seen)):
                self.assertTrue(read(), seen)
            seen = seen[found.end():]

        expect(rb"In \[1\]: ")
        os.write(terminal, b"symm.Rank() + 40\n")
        expect(rb"\[0\] 40\r\n\[1\] 41")
        expect(rb"In \[2\]: ")
        os.write(terminal, b"nosuch\n")
        expect(rb"undefined: nosuch")
        expect(rb"In \[3\]: ")
        os.write(terminal, b":quit\n")
        while read():
            pass
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
