"""Outputs of every kind in JupyterLab, in both themes: python -m unittest lab_outputs_test."""

import os
import unittest

import nbformat
from lab import PICTURES, Lab, notebook
from nbclient import NotebookClient

RESULTS = [
    't := symm.Empty(symm.F32, 2, 4).Fill(1)\nh := symm.Rendezvous(t)\nfmt.Println("printed by all ranks")\n[]int{symm.Rank(), symm.WorldSize()}',
    "t",
    "symm.Local(symm.I32, 4).Fill(symm.Rank())",
    'display.Markdown("**4 ranks** of $n = 2^{10}$ bytes:\\n\\n* one\\n* two")',
    'display.HTML("<table><tr><th>rank</th><th>GPU</th></tr><tr><td>0</td><td>H200</td></tr></table>")',
    'display.JSON(map[string]any{"op": "AllReduce", "bytes": 4096})',
]

CHARTS = [
    '''var waves [2][]float64
for i := range 60 {
	waves[0] = append(waves[0], math.Sin(float64(i)/6))
	waves[1] = append(waves[1], math.Cos(float64(i)/6))
}
lines := chart.Lines(waves[0], waves[1])
lines.Title, lines.Names = "two waves", []string{"sine", "cosine"}
lines''',
    "chart.Heat(symm.Local(symm.I32, 4, 8).Arange())",
    '''img := image.NewGray(image.Rect(0, 0, 128, 48))
for i := range img.Pix {
	img.Pix[i] = uint8(2 * (i % 128))
}
img''',
]

ERRORS = [
    "%restart\nsort.Ints(nil)\nrank := symm.Rank()",
    "rank = rank +\n\tranks",
    "func at(xs []int, i int) int {\n\treturn xs[i]\n}\nat([]int{1, 2}, 2*rank)",
    "h := symm.Rendezvous(symm.Empty(symm.F32, 4))\nh.WaitSignal(1-rank, 0, symm.Timeout(100*time.Millisecond))\nsymm.Synchronize()",
]

COMMANDS = [
    "%ranks",
    'bar := display.NewProgress("steps", 20)\nbar.Add(13)',
    ":topo",
    "t := symm.Empty(symm.F32, 4096)\nh := symm.Rendezvous(t)\n_ = t",
    ':trace for range 3 { symm.AllReduce(t, "sum"); h.Barrier(0) }',
    "%on 1",
    "symm.Rank()",
]

RAISES = {"tags": ["raises-exception"]}


class Outputs(Lab):
    def shown(self, name, sources, ends):
        """Runs cells in both themes, waits for texts in the output of the last cell, and stores a picture of the notebook."""
        for theme in ("Light", "Dark"):
            nb = notebook(sources)
            for cell in nb["cells"]:
                cell["metadata"] = RAISES
            page = self.open(nb, theme, width=1150, height=2400)
            self.run_all(page)
            for text in ends:
                page.wait_for_selector(f".jp-OutputArea-output >> text={text} >> nth=0")
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached")
            yield page
            self.keep(page, f"outputs-{name}-{theme.lower()}.png")
            page.close()

    def keep(self, page, name):
        """Stores a picture of the notebook's cells."""
        if not PICTURES:
            return
        page.mouse.move(0, 0)
        cells = [c.bounding_box() for c in page.locator(".jp-Notebook .jp-Cell").all()]
        left, top, right = min(c["x"] for c in cells), min(c["y"] for c in cells), max(c["x"] + c["width"] for c in cells)
        bottom = max(c["y"] + c["height"] for c in cells)
        page.screenshot(path=os.path.join(PICTURES, name), clip={"x": left, "y": top, "width": right - left, "height": bottom - top + 4})

    def test_results(self):
        for page in self.shown("results", RESULTS, ["AllReduce"]):
            page.wait_for_selector("td:text-is('H200')")

    def test_charts(self):
        for page in self.shown("charts", CHARTS, []):
            page.wait_for_selector(".jp-RenderedImage img >> nth=0")

    def test_errors(self):
        for page in self.shown("errors", ERRORS, ["imported", "index out of range", "rank 0,1 waited"]):
            pass

    def test_commands(self):
        for page in self.shown("commands", COMMANDS, ["65 %"]):
            page.wait_for_selector(".jp-RenderedSVG >> nth=0")
            page.wait_for_selector(".symm-timeline svg rect >> nth=0")

    def test_untrusted(self):
        """An untrusted notebook shows its pictures as images and none as SVG, and runs no script."""
        nb = nbformat.from_dict(notebook([*CHARTS[:2], *COMMANDS[3:5]]))
        NotebookClient(nb, timeout=60).execute()
        kinds = [sorted(o.data) for c in nb.cells for o in c.outputs if "data" in o and "image/svg+xml" in o.data]
        self.assertEqual(kinds, [["image/png", "image/svg+xml", "text/plain"]] * 2 + [["image/svg+xml", "text/html", "text/plain"]])
        page = self.open(nb, height=1800)
        images = page.locator('.jp-RenderedImage img[src^="data:image/png"], .jp-RenderedHTML img[src^="data:image/svg+xml"]')
        images.nth(2).wait_for(state="visible")
        self.assertEqual(images.count(), 3)
        for i in range(3):
            self.assertGreater(images.nth(i).evaluate("image => image.naturalWidth"), 400)
        self.assertEqual(page.locator(".jp-RenderedSVG").count(), 0)
        page.wait_for_selector(".jp-RenderedHTML td:text-is('waits')")  # the summary
        self.assertEqual(page.locator(".jp-RenderedHTML svg, .jp-RenderedHTML script").count(), 0)
        self.assertNotIn("symm-timeline", page.locator(".jp-RenderedHTML").last.inner_text())
        self.run_all(page)  # outputs of this session are trusted
        page.wait_for_selector(".jp-RenderedSVG >> nth=1")
        page.wait_for_selector(".symm-timeline svg rect >> nth=0")


if __name__ == "__main__":
    unittest.main()
