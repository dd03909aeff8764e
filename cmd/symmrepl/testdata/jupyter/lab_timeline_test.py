"""Timelines in JupyterLab and in the pages of nbconvert: python -m unittest lab_timeline_test."""

import os
import re
import unittest

import nbformat
from lab import PATIENCE, Lab, notebook
from nbclient import NotebookClient
from nbconvert import HTMLExporter

CELLS = [
    "t := symm.Empty(symm.F32, 4096)\nh := symm.Rendezvous(t)\n_ = t",
    ":trace\nif symm.Rank() == 1 { time.Sleep(20 * time.Millisecond) }; t.Fill(1)\nh.Barrier(0)\nsymm.Synchronize()",
]

TIMELINE = ".symm-timeline"
WAIT = TIMELINE + ' rect[fill="#808080"]'


class Timelines(Lab):
    def span(self, page):
        root = page.locator(TIMELINE)
        return float(root.get_attribute("data-from")), float(root.get_attribute("data-to"))

    def becomes(self, page, holds, what):
        """Waits until the part that is shown has a property, and returns it."""
        for _ in range(PATIENCE * 20):
            if holds(*self.span(page)):
                return self.span(page)
            page.wait_for_timeout(50)
        self.fail(f"{what}: {self.span(page)}")

    def moves(self, page):
        """Tips, zoom by the wheel, the keys and the buttons, and moving."""
        longest = max(page.locator(WAIT).all(), key=lambda w: w.bounding_box()["width"])
        longest.scroll_into_view_if_needed()
        box = longest.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        tip = page.locator(".symm-tip").inner_text().split("\n")
        self.assertEqual(tip[0], "wait")
        self.assertRegex(tip[1], "^waits for rank 1, ended by rank 1, for ")
        self.assertRegex(tip[2], r"^at In\[\d+\]:3$|^at cell\[\d+\]:3$")
        self.assertRegex(tip[3], "^rank 0 +stream 0$")
        self.assertRegex(tip[4], "^[0-9.]+ ms from [0-9.]+ [mµ]s to [0-9.]+ ms$")
        self.assertEqual(page.locator(TIMELINE + ' path[data-arrow][stroke-width="2"]').count(), 1)
        begin, end = self.span(page)
        self.assertEqual(begin, 0)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -60)
        page.keyboard.up("Control")
        first, last = self.becomes(page, lambda a, b: abs(b - a - end / 2) < end / 1000, "the wheel halves the span")
        page.mouse.down()
        page.mouse.move(x - 100, y)
        page.mouse.up()
        self.becomes(page, lambda a, b: a > first and abs(b - a - (last - first)) < 1, "what is held moves to the left")
        page.keyboard.press("+")
        self.becomes(page, lambda a, b: abs(b - a - end / 4) < end / 1000, "a key halves it again")
        page.click(TIMELINE + " button:text-is('all')")
        self.becomes(page, lambda a, b: (a, b) == (0, end), "a button shows all")

    def test_themes(self):
        for theme in ("Light", "Dark"):
            page = self.open(notebook(CELLS), theme, width=1150, height=900)
            wrong = []
            page.on("request", lambda r, wrong=wrong: wrong.append(r.url) if not r.url.startswith((self.url, self.url.replace("http", "ws"), "data:", "blob:")) else None)
            page.on("pageerror", lambda e, wrong=wrong: wrong.append(str(e)))
            self.run_all(page)
            page.wait_for_selector(WAIT)
            self.moves(page)
            page.mouse.move(0, 0)
            words, paper = page.locator(TIMELINE).evaluate("e => [getComputedStyle(e).color, getComputedStyle(document.body).getPropertyValue('--jp-layout-color0')]")
            lines = self.contrasts(page, page.locator(TIMELINE + " svg"), 1)
            self.assertGreater(lines[0], 7, (words, paper))
            waits = self.contrasts(page, page.locator(TIMELINE + " span span").first, 1)  # the mark of the legend
            self.picture(page, f"lab-timeline-{theme.lower()}.png")
            self.assertGreater(len(waits), 0)
            self.assertEqual(wrong, [])

    def test_nbconvert(self):
        nb = nbformat.from_dict(notebook(CELLS))
        NotebookClient(nb, timeout=60).execute()
        page_file = os.path.join(self.folder, "page.html")
        exporter = HTMLExporter()
        for theme in ("light", "dark"):
            exporter.theme = theme
            with open(page_file, "w") as f:
                f.write(exporter.from_notebook_node(nb)[0])
            page = self.browser.new_page()
            page.set_viewport_size({"width": 1150, "height": 900})
            page.route(re.compile("^(?!file:)"), lambda request: request.abort())
            page.goto("file://" + page_file, wait_until="commit")
            page.wait_for_selector(WAIT)
            self.moves(page)
            page.close()


if __name__ == "__main__":
    unittest.main()
