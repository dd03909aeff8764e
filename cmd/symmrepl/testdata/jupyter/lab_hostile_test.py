"""Text of cells and ranks never becomes live HTML, in JupyterLab and in nbconvert's HTML: python -m unittest lab_hostile_test."""

import os
import subprocess
import sys
import unittest

import nbformat
from lab import Lab, notebook
from nbclient import NotebookClient

MARK = "hostile-text"
TEXT = f'{MARK}</script><script>window.ran=1</script><img src=x onerror="window.ran=2"><svg onload="window.ran=3"></svg>'
QUOTED = TEXT.replace('"', "'")

# Each cell shows TEXT in another place.
CELLS = [
    f"fmt.Println(`{TEXT}`)",
    f"fmt.Fprintln(os.Stderr, `{TEXT}`, symm.Rank())",
    f"`{TEXT}`",
    f"struct{{ A string; B []string }}{{`{TEXT}`, []string{{`{TEXT}`}}}}",
    f"map[string]any{{`{TEXT}`: symm.Rank()}}",
    f"if symm.Rank() == 0 {{ panic(`{TEXT}`) }}",
    f"%%cuda\n// {TEXT}\n__global__ void k(float* x) {{ x[0] = \"{QUOTED}\"; }}",
    f'os.ReadFile("{QUOTED}")',
    f'import "{QUOTED}"',
    f"type loud struct{{ rank int }}\nfunc (l loud) String() string {{ return fmt.Sprint(l.rank, `{TEXT}`) }}\nloud{{symm.Rank()}}",
    f"v := `{TEXT}`\nw := fmt.Sprint(symm.Rank(), v)",
    ":vars",
    "v?",
    f"display.NewProgress(`{TEXT}`, 3).Add(1)",
    f"display.JSON(map[string]any{{`{TEXT}`: `{TEXT}`}})",
    f"lines := chart.Lines([]float64{{1, 2}})\nlines.Title, lines.Names = `{TEXT}`, []string{{`{TEXT}`}}\nlines",
    f"chart.Lines([]float64{{float64(symm.Rank()), 2}}) // {TEXT}",
    "symm.Local(symm.I32, 3).Fill(symm.Rank())",
    f"t := symm.Empty(symm.F32, 4)\nh := symm.Rendezvous(t)\nh.WaitSignal(1-symm.Rank(), 0, symm.Timeout(100*time.Millisecond)); symm.Synchronize() // {TEXT}",
    f"h.WaitSignal(1-symm.Rank(), 0, symm.Timeout(3*time.Second)); symm.Synchronize() // {TEXT}",
    f"racy := symm.Compile(`__global__ void racy(int* x) {{ x[threadIdx.x / 2] = threadIdx.x; /* {TEXT} */ }}`)\nplaces := symm.Local(symm.I32, 64)",
    "%sanitize racy.Launch(symm.Grid(1), symm.Block(64), places)",
    ':trace symm.AllReduce(t, "sum")',
    f":nosuch {TEXT}",
    f"$ echo '{TEXT}'",
    f"%%nosuch {TEXT}\n1",
    'fmt.Print("\\x1b[31mred\\x1b[0m \\x1b]0;title\\a \\xff\\xfe \\x00\\n")\n"\\x1b[31m \\xff"',
    f'fmt.Println("the last", `{MARK}`)',
]




class Hostile(Lab):
    def quiet(self, page):
        """No script ran, and no element came of the text."""
        self.assertIsNone(page.evaluate("window.ran === undefined ? null : window.ran"))
        self.assertEqual(page.locator("img[src='x'], svg[onload], img[onerror]").count(), 0)

    def test_in_lab(self):
        nb = notebook(CELLS)
        for cell in nb["cells"]:
            cell["metadata"] = {"tags": ["raises-exception"]}
        page = self.open(nb, "Dark", width=1150, height=1500)
        self.run_all(page)
        page.wait_for_selector(f".jp-OutputArea-output >> text=/the last {MARK}/")
        page.wait_for_timeout(1000)
        self.quiet(page)
        for cell in page.locator(".jp-Notebook .jp-CodeCell").all():  # those out of view are drawn when they come into it
            cell.scroll_into_view_if_needed()
            self.quiet(page)
        self.assertGreater(page.locator(".jp-OutputArea-output").count(), len(CELLS) / 2)

    def test_in_html(self):
        nb = nbformat.from_dict(notebook(CELLS))
        NotebookClient(nb, timeout=120, allow_errors=True).execute()
        shown = [c for c in nb.cells if MARK in str(c.outputs)]
        self.assertGreaterEqual(len(shown), len(CELLS) - 9)  # nine show nothing, or not the text
        file = os.path.join(self.folder, "hostile.ipynb")
        nbformat.write(nb, file)
        subprocess.run([sys.executable, "-m", "jupyter", "nbconvert", "--log-level", "ERROR", "--to", "html", file], check=True)
        page = self.browser.new_page()
        page.goto("file://" + os.path.join(self.folder, "hostile.html"), wait_until="domcontentloaded")
        page.wait_for_selector(f"text=/the last {MARK}/ >> nth=0")
        page.wait_for_timeout(500)
        self.quiet(page)


if __name__ == "__main__":
    unittest.main()
