"""%%symm and %%cuda in notebooks of Python, executed by nbclient: python -m unittest test_magics."""

import os
import threading
import time
import unittest

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

DEVICE = os.environ.get("SYMMREPL_TEST_DEVICE", "cpu")
SPEC = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
OPEN = ("%load_ext symmrepl", f"%symm -n 2 --device {DEVICE}")


def client(nb, **options):
    """Returns a client for a kernel on sockets of the file system.

    TCP ports are chosen before the kernel opens them, and another process may open one in between.
    """
    sockets = Config({"KernelManager": {"transport": "ipc"}})
    return NotebookClient(nb, timeout=60, config=sockets, **options)


def execute(*cells, allow_errors=False):
    """Runs OPEN and then the cells; returns the executed cells."""
    nb = new_notebook(cells=[new_code_cell(c) for c in (*OPEN, *cells)], metadata=SPEC)
    client(nb, allow_errors=allow_errors).execute()
    return nb.cells[len(OPEN) :]


def shown(cell):
    """Returns the text that a cell shows. For an error, this is its name and its shown text."""
    text = ""
    for o in cell.outputs:
        if o.output_type == "error":
            text += f"{o.ename}: " + "\n".join(o.traceback) + "\n"
        else:
            text += o.get("text", "") or o.data["text/plain"] + "\n"
    return text


class Magics(unittest.TestCase):
    def test_output_by_rank(self):
        a, b, c, d = execute(
            '%%symm\nr := symm.Rank()\nfmt.Println("same")\nfmt.Println("rank", r)\nr * 10',
            "%%symm --on 1 -o kept\nr",
            "kept.by_rank, kept.value",
            "%symm symm.Local(symm.F32, 2).Fill(r)",
        )
        self.assertEqual(shown(a), "[0,1] same\n[0] rank 0\n[1] rank 1\n[0] 0\n[1] 10\n")
        self.assertEqual((shown(b), shown(c)), ("[1] 1\n", "({1: '1'}, '1')\n"))
        (tabs,) = d.outputs
        self.assertIn("<summary>rank 1</summary>", tabs.data["text/html"])

    def test_displays(self):
        a, b = execute(
            '%symm display.HTML("<b>x</b>")',
            '%%symm\nfor i := range 3 { p := display.HTML(fmt.Sprint(i)); if i == 0 { Display(display.Named("d", p)) } else { display.Update("d", p) } }',
        )
        self.assertEqual(a.outputs[0].data["text/html"], "<b>x</b>")
        self.assertEqual([o.data["text/html"] for o in b.outputs], ["2"])

    def test_tensors_both_ways(self):
        *_, t, total = execute(
            "%symm t := symm.Empty(symm.F32, 2, 2).Fill(symm.Rank() + 1)",
            "x = %symm_get t",
            "x *= 10",
            "%symm_put t x --by-rank",
            "y = %symm_get t.Slice(0, 1) --rank 1",
            "%symm_put fresh y + 1 --local",
            "x.shape, y.tolist(), str(y.dtype)",
            "%%symm\nfmt.Println(t.Float32s()[0], fresh.Float32s(), fresh.Symmetric())",
        )
        self.assertEqual(shown(t), "((2, 2, 2), [[20.0, 20.0]], 'float32')\n")
        self.assertEqual(shown(total), "[0] 10 [21 21] false\n[1] 20 [21 21] false\n")

    def test_cuda(self):
        *_, launched, r, by_hand, bad = execute(
            "%symm x := symm.Local(symm.F32, 32).Fill(symm.Rank() + 1)",
            "%%cuda -g 1 -b 32 scale x float32(3)\n__global__ void scale(float* x, float by) {\n  x[threadIdx.x] *= by; // `by`\n}",
            "%symm x.Float32s()[31]",
            "%%cuda twice\ntemplate <class T> __global__ void k(T* x) { x[threadIdx.x] *= 2; }\n__global__ void first(float* x) { x[threadIdx.x] += 1; }",
            "%%cuda\n\n__global__ void bad(float* x) { x[0] = y; }",
            allow_errors=True,
        )
        self.assertEqual(launched.outputs, [])
        self.assertEqual(shown(r), "[0] 3\n[1] 6\n")
        self.assertEqual(by_hand.outputs, [])
        self.assertTrue(bad.outputs[0].ename == "CompileError" and "]:3:" in shown(bad), shown(bad))  # the line of the cell

    def test_errors(self):
        cells = execute(
            "%%symm\n\nnosuch()",
            '%%symm\nif symm.Rank() == 1 { panic("no") }',
            "%symm :nosuch",
            "%%symm -n 3\n1",
            "%%symm --nosuch\n1",
            "%symm_get nosuch",
            "import symmrepl\ntry:\n    %symm panic(7)\nexcept symmrepl.CellPanic as e:\n    print(e.ranks)",
            "%symm 1",
            allow_errors=True,
        )
        for cell, want in zip(
            cells,
            (
                "In[3]:3:1: undefined: nosuch",
                "In[4]:2:23: panic: no",
                "nosuch",
                "2 ranks",
                "unrecognized",
                "undefined: nosuch",
                "[0, 1]",
                "[0,1] 1",
            ),
        ):
            self.assertIn(want, shown(cell))
        self.assertEqual(
            [c.outputs[0].get("ename") for c in cells[:6]], ["CellTypeError", "CellPanic", "Refused", "Refused", None, "CellTypeError"]
        )
        self.assertNotIn("File ", shown(cells[0]))  # no traceback of this package
        with self.assertRaises(CellExecutionError):
            execute("%symm panic(1)", "%symm 1")

    def test_interrupt(self):
        nb = new_notebook(
            cells=[new_code_cell(c) for c in (*OPEN, '%%symm\nn := 7\nfmt.Println("runs")\nfor {}', "%symm n")], metadata=SPEC
        )
        running = client(nb, allow_errors=True)

        def press():
            end = time.monotonic() + 30
            while not nb.cells[2].get("outputs") and time.monotonic() < end:
                time.sleep(0.05)
            running.km.interrupt_kernel() if not hasattr(running.km, "_async_interrupt_kernel") else os.kill(running.km.provisioner.pid, 2)

        thread = threading.Thread(target=press)
        thread.start()
        running.execute()
        thread.join()
        self.assertEqual(nb.cells[2].outputs[-1].ename, "KeyboardInterrupt")
        self.assertEqual(shown(nb.cells[3]), "[0,1] 7\n")

    def test_standard_input_is_at_its_end(self):
        (a,) = execute("%%symm --on 0\nin := bufio.NewScanner(os.Stdin)\nin.Scan()")
        self.assertIn("[0] false", shown(a))

    def test_clear(self):
        (a,) = execute('%%symm\nfmt.Println("old")\ndisplay.Clear(false)\nfmt.Println("new")')
        self.assertNotIn("old", shown(a))
        self.assertIn("[0,1] new", shown(a))

    def test_close(self):
        a, b, c = execute("%symm --close", "%symm 1", "import symmrepl.magics\nprint(symmrepl.magics.session())")
        self.assertRegex(shown(b), r"^\[0-?,?\d")  # a session of another size: the default
        self.assertIn("symmrepl.Session", shown(c))


class Notebook(unittest.TestCase):
    """notebooks/python.ipynb produces the outputs that are stored in it."""

    def test_notebook(self):
        file = os.path.join(os.path.dirname(__file__), "..", "..", "notebooks", "python.ipynb")
        stored = nbformat.read(file, 4)
        nb = nbformat.read(file, 4)
        client(nb).execute()
        for cell, want in zip(nb.cells, stored.cells):
            if cell.cell_type == "code":
                self.assertEqual(shown(cell), shown(want), cell.source)
        self.assertGreater(sum(bool(c.get("outputs")) for c in stored.cells), 5)


if __name__ == "__main__":
    unittest.main()
