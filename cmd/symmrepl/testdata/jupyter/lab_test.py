"""Notebooks in JupyterLab: python -m unittest lab_test."""

import json
import os
import sys
import unittest

from lab import Lab, notebook

LESSON = os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "notebooks", "03-signals.ipynb")

PLOT = '''import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)
points := make(plotter.XYs, 50)
for i := range points {
	points[i].X, points[i].Y = float64(i), math.Sin(float64(i)/5)
}
line, _ := plotter.NewLine(points)
p := plot.New()
p.Add(line)
p'''

CELLS = [
    't := symm.Empty(symm.F32, 4).Fill(symm.Rank())\nh := symm.Rendezvous(t)\nfmt.Println("the same on all ranks")\nsymm.Rank()',
    PLOT,
    "symm.Empty(symm.F32, 4).Fill(10 + symm.Rank())",
    "if symm.Rank() == 1 {\n\ttime.Sleep(time.Hour)\n}\nh.WaitSignal(1, 0)\nsymm.Synchronize()",
]


class Notebooks(Lab):
    def tabs(self, page):
        """If a tensor differs between ranks, each rank has a tab: the first is open, a click opens another and closes it."""
        first, second = page.locator("td:text-is('10') >> nth=0"), page.locator("td:text-is('11') >> nth=0")
        first.wait_for(state="visible")
        self.assertFalse(second.is_visible())
        page.click("summary:text-is('rank 1')")
        second.wait_for(state="visible")
        self.assertFalse(first.is_visible())
        page.click("summary:text-is('rank 0')")
        first.wait_for(state="visible")

    def test_errors_can_be_read(self):
        """All lines of an error have a contrast of 4.5:1 or more, in the light theme and in the dark one; remarks are not drawn as errors."""
        for theme in ("Light", "Dark"):
            page = self.open(notebook(["%restart\nsort.Ints(nil)\nx := 1", "y := x +\n1\nrank = y"]), theme)
            self.run_all(page)
            error = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error'], .jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']")
            error.first.wait_for(state="visible")
            page.wait_for_selector("text=note: imported")
            self.assertEqual(error.count(), 1)  # the remark is no other
            lines = error.first.inner_text().strip().splitlines()
            got = self.contrasts(page, error.first.locator("pre"), len(lines))
            print(f"contrast of an error, {theme}: {min(got):.1f}", file=sys.stderr)
            self.assertGreater(min(got), 4.5, (theme, got))
            self.picture(page, f"lab-error-{theme.lower()}.png")

    def test_cuda_is_highlighted(self):
        """A cell that begins with %%cuda is highlighted as C++, also one that becomes such a cell; others as Go."""
        page = self.open(notebook(['%%cuda\nextern "C" __global__ void k(int* x) { return; }', "x := 1"]))
        page.locator(".jp-Notebook-cell >> nth=0").locator(".cm-content[data-language=cpp]").wait_for()
        page.locator(".jp-Notebook-cell >> nth=1").locator(".cm-content[data-language=go]").wait_for()
        colour = page.locator(".jp-Notebook-cell >> nth=0").locator(".cm-line span:text-is('return')").first.evaluate("e => getComputedStyle(e).color")
        self.assertNotEqual(colour, page.locator(".cm-content >> nth=0").evaluate("e => getComputedStyle(e).color"))
        page.locator(".jp-Notebook-cell >> nth=1").locator(".cm-content").click()
        page.keyboard.press("Control+Home")
        page.keyboard.type("%%cuda\n")
        page.locator(".jp-Notebook-cell >> nth=1").locator(".cm-content[data-language=cpp]").wait_for()

    def test_lesson(self):
        """In the notebook of a lesson each picture is drawn, and the source of each check is folded until it is clicked; that of other cells is shown."""
        with open(LESSON, encoding="utf8") as f:
            nb = json.load(f)
        pictures = sum("<img " in "".join(c["source"]) for c in nb["cells"])
        checks = [i for i, c in enumerate(nb["cells"]) if c["metadata"].get("jupyter", {}).get("source_hidden")]
        sources = [i for i, c in enumerate(nb["cells"]) if c["cell_type"] == "code" and i not in checks]
        self.assertEqual((pictures, len(checks)), (2, 3))
        for theme in ("Light", "Dark"):
            page = self.open(nb, theme, height=16000)  # cells outside the window have no elements
            page.wait_for_function(f"document.querySelectorAll('.jp-RenderedMarkdown img').length == {pictures}")
            for i in range(pictures):
                picture = page.locator(f".jp-RenderedMarkdown img >> nth={i}")
                page.wait_for_function("e => e.complete", arg=picture.element_handle())
                self.assertGreater(picture.evaluate("e => e.naturalWidth"), 100, theme)
                box = picture.bounding_box()
                self.assertGreater(min(box["width"], box["height"]), 50, (theme, i, box))
            cell = lambda i: page.locator(f".jp-Notebook-cell[data-windowed-list-index='{i}']")
            for i in sources:
                cell(i).locator(".cm-content").wait_for(state="visible")
            for i in checks:
                cell(i).locator(".jp-InputPlaceholder").wait_for(state="visible")
                self.assertEqual(cell(i).locator(".cm-content:visible").count(), 0, (theme, i))
            cell(checks[0]).locator(".jp-InputPlaceholder").click()
            cell(checks[0]).locator(".cm-content").wait_for(state="visible")
            self.picture(page, f"lab-lesson-{theme.lower()}.png")

    def test_notebook(self):
        for theme in ("Light", "Dark"):
            page = self.open(notebook(CELLS), theme, width=1200, height=1250)  # cells outside the window have no elements
            self.run_all(page)
            page.wait_for_selector("text=[0,1] the same on all ranks")
            page.wait_for_selector("text=[1] 1")
            page.wait_for_selector(".jp-RenderedSVG img, .jp-RenderedSVG svg")
            page.wait_for_selector("text=waits in wait_signal")
            self.tabs(page)
            self.picture(page, f"lab-waits-{theme.lower()}.png")
            page.click("text=Kernel >> nth=0")
            page.click("text=Interrupt Kernel")
            page.wait_for_selector("text=/was interrupted after [0-9.]+ s/")  # in the report of the wait
            page.wait_for_selector("text=/: interrupted/ >> nth=0")
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
            self.picture(page, f"lab-interrupted-{theme.lower()}.png")


if __name__ == "__main__":
    unittest.main()
