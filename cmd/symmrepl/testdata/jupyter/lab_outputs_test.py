"""Outputs of every kind in JupyterLab, in both themes: python -m unittest lab_outputs_test."""

import os
import sys
import unittest

import nbformat
from lab import PICTURES, Lab, notebook
from nbclient import NotebookClient
from nbconvert import HTMLExporter

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

TENSORS = [
    "%restart -n 4",
    "symm.Empty(symm.BF16, 8, 12).Rand(7)",
    "x := symm.Local(symm.F32, 512, 1024).Rand(1)\nx.View(-1).Slice(40, 41).Fill(math.NaN())\nx",
    "symm.Local(symm.I32, 12, 16, 16).Arange()",
    "y := symm.Local(symm.F32, 6, 8).Arange()\nif symm.Rank() == 2 {\n\ty.View(-1).Slice(9, 11).Fill(0.5)\n}\ny",
]

RANKS = [
    "%restart -n 4",
    "rank := symm.Rank()",
    """loss := make([]float64, 40)
for i := range loss {
	loss[i] = math.Exp(-float64(i)/float64(10+4*rank)) + 0.02*float64(rank)
}
c := chart.Lines(loss)
c.Title, c.X, c.Y = "loss by rank", "step", "loss"
c""",
    'map[string]any{"rank": rank % 2, "device": "cpu", "shape": []int{1024, 4096}, "stride": []int{4096, 1}, "dtype": "bf16", "offset": 16 * (rank % 2)}',
    "for i := range 5 {\n\tfmt.Printf(\"step %d: %d tokens\\n\", i, 100*i+rank)\n}",
    "xs := []int{1, 2, 3}\nxs[2*rank]",
    "h := symm.Rendezvous(symm.Empty(symm.F32, 4))\nif rank == 3 {\n\tpanic(\"the input of rank 3 is empty\")\n}\nif rank == 0 {\n\tsymm.Empty(symm.F32, -1)\n}\nrank * rank",
]

FINDINGS = [
    "n := symm.Empty(symm.I32, 64)\nh := symm.Rendezvous(n)",
    """%%cuda next
__global__ void next(symm::Handle h) {
  int right = (h.rank + 1) % h.world_size;
  h.buffer<int>(right)[threadIdx.x] = h.rank;
  h.buffer<int>(h.rank)[threadIdx.x] += 1;
}""",
    "%%sanitize\nnext.Launch(symm.Grid(1), symm.Block(64), h)\nsymm.Synchronize()",
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
            page = self.open(nb, theme, width=1150, height=2900)
            self.run_all(page)
            for text in ends:
                page.wait_for_selector(f".jp-OutputArea-output >> text={text} >> nth=0")
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached")
            yield page
            self.keep(page, f"outputs-{name}-{theme.lower()}.png")

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

    def test_tensors(self):
        """Tables of tensors have statistics, a heat map, slices to choose, and the differences between ranks."""
        for page in self.shown("tensors", TENSORS, ["mean", "1 NaN", "7 more slices"]):
            page.wait_for_selector("summary:text-is('ranks 0,1,3')")
            tables = page.locator(".symm-tensor table:visible")
            self.assertEqual(page.locator(".symm-tensor table:visible").count(), 4)  # one tab of each row is open
            page.click("summary:text-is('[1]')")
            page.wait_for_selector("td:text-is('256'):visible")
            self.assertEqual(tables.count(), 4)
            page.click("summary:text-is('differences')")
            page.wait_for_selector("text=2 of the 48 elements shown differ")
            self.assertEqual(tables.count(), 3)

    def test_ranks(self):
        """Ranks that differ are tabs of which one is open, errors are red, and lines of charts are one chart."""
        for page in self.shown("ranks", RANKS, ["dimensions must not be negative"]):
            self.assertEqual(page.locator(".jp-RenderedSVG").count(), 1)
            failed = page.locator("summary.symm-failed:text-is('✗ rank 3')")
            error = page.locator(".jp-RenderedHTMLCommon pre:has-text('the input of rank 3 is empty')")
            self.assertFalse(error.last.is_visible())
            failed.last.click()
            error.last.wait_for(state="visible")
            got = self.contrasts(page, failed.last, 1)
            print(f"contrast of a failed tab: {got[0]:.1f}", file=sys.stderr)
            self.assertGreater(got[0], 4.5)

    def test_findings(self):
        """A finding is open: its accesses stand beside each other."""
        for page in self.shown("findings", FINDINGS, ["repair: "]):
            panes = page.locator(".symm-finding pre").all()
            boxes = [p.bounding_box() for p in panes[:2]]
            self.assertGreater(boxes[1]["x"], boxes[0]["x"] + boxes[0]["width"])

    def test_errors(self):
        for page in self.shown("errors", ERRORS, ["imported", "index out of range", "rank 0,1 waited"]):
            pass

    def test_commands(self):
        for page in self.shown("commands", COMMANDS, ["65 %, 13/20"]):
            page.wait_for_selector(".jp-RenderedSVG >> nth=0")
            page.wait_for_selector(".symm-timeline svg rect >> nth=0")

    def test_narrow(self):
        """Where a page is narrow, tables of commands scroll: no cell of theirs has two lines."""
        page = self.open(notebook([f'words{i} := strings.Repeat("{i} words ", 30)' for i in range(3)] + ["%ranks", "%vars"]), width=900, height=1200)
        self.run_all(page)
        page.wait_for_selector("td:text-is('words2')")
        cells = page.locator(".jp-OutputArea table.dataframe td").all()
        self.assertEqual(len(cells), 2 * 8 + 3 * 5)
        for cell in cells:
            self.assertLess(cell.bounding_box()["height"], 36)
        self.assertEqual(page.locator(".jp-OutputArea").last.evaluate("area => area.scrollWidth - area.clientWidth"), 0)

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

    def test_untrusted_ranks(self):
        """Where a notebook is not trusted, tabs are a list in which several can be open, with heat maps and without a style sheet."""
        nb = self.executed([TENSORS[0], *TENSORS[4:]])
        page = self.open(nb, height=1800)
        tab = page.locator(".symm-tabs > details")
        tab.first.wait_for(state="visible")
        self.assertEqual((tab.count(), page.locator(".jp-RenderedHTML style").count()), (3, 0))
        page.click("summary:text-is('rank 2')")
        page.wait_for_selector("td:text-is('0.5') >> nth=0", state="visible")
        images = page.locator(".jp-RenderedHTML img.symm-heat:visible")
        self.assertEqual(images.count(), 2)
        self.assertGreater(images.nth(1).evaluate("image => image.naturalWidth"), 60)

    def test_nbconvert(self):
        """Tabs work in pages of nbconvert, in both themes: one is open, at its right there is no other, and a page that is printed has all."""
        nb = self.executed([TENSORS[0], *TENSORS[4:]])
        for theme in ("light", "dark"):
            file = os.path.join(self.folder, theme + ".html")
            with open(file, "w") as f:
                f.write(HTMLExporter(theme=theme).from_notebook_node(nb)[0])
            page = self.browser.new_page()
            page.goto("file://" + file, wait_until="domcontentloaded")
            labels = page.locator(".symm-tabs > details > summary")
            self.assertEqual(labels.all_inner_texts(), ["ranks 0,1,3", "rank 2", "differences"])
            self.assertEqual(len({box["y"] for box in (label.bounding_box() for label in labels.all())}), 1)  # one row
            first, second = page.locator("td:text-is('9') >> nth=0"), page.locator("td:text-is('0.5') >> nth=0")
            self.assertEqual((first.is_visible(), second.is_visible()), (True, False))
            labels.nth(1).press("Enter")  # the keyboard reaches them
            second.wait_for(state="visible")
            self.assertFalse(first.is_visible())
            page.emulate_media(media="print")
            self.assertEqual((first.is_visible(), second.is_visible()), (True, True))
            page.close()

    def executed(self, sources):
        nb = nbformat.from_dict(notebook(sources))
        NotebookClient(nb, timeout=60).execute()
        return nb


if __name__ == "__main__":
    unittest.main()
