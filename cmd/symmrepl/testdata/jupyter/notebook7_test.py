"""Notebooks in Notebook 7: python -m unittest notebook7_test."""

import importlib.util
import unittest

import lab_test
import lab_widgets_test
from lab import Lab, notebook


@unittest.skipUnless(importlib.util.find_spec("notebook"), "there is no Notebook 7 (pip install notebook)")
class Notebook7(Lab):
    MODULE = "notebook"

    def show(self, page, file, theme):
        self.load(page, "notebooks/", file, theme)

    def wait_for_kernel(self, page):
        page.wait_for_selector(".jp-KernelName:has-text('symmrepl')")
        page.wait_for_selector(".jp-NotebookKernelStatus-fade:not(.jp-NotebookKernelStatus-info)", state="attached")  # its text has gone

    def test_notebook(self):
        """Tabs, a wait with its report, Interrupt, and Restart, in both themes."""
        for theme in ("Light", "Dark"):
            page = self.open(notebook(lab_test.CELLS), theme, width=1200, height=1250)
            self.run_all(page)
            page.wait_for_selector("text=[0,1] the same on all ranks")
            page.wait_for_selector("text=waits in wait_signal")
            lab_test.Notebooks.tabs(self, page)
            page.click("[data-command='notebook:interrupt-kernel'] >> nth=0")
            page.wait_for_selector("text=/was interrupted after [0-9.]+ s/")
            page.wait_for_selector("text=/: interrupted/ >> nth=0")
            self.picture(page, f"notebook7-interrupted-{theme.lower()}.png")
            page.click("text=Kernel >> nth=0")
            page.click("text=/^Restart Kernel…$/")
            page.click(".jp-Dialog button:has-text('Restart')")
            page.wait_for_selector(".jp-Dialog", state="detached")
            cell = page.locator(".jp-Notebook-cell >> nth=0")
            cell.locator(".cm-content").click()
            page.keyboard.press("Control+a")
            page.keyboard.type("t")
            page.keyboard.press("Control+Enter")
            cell.locator("text=undefined: t").first.wait_for(state="visible")  # the session is new

    def test_cuda_is_highlighted(self):
        page = self.open(notebook(['%%cuda\nextern "C" __global__ void k(int* x) { return; }', "x := 1"]))
        page.locator(".jp-Notebook-cell >> nth=0").locator(".cm-content[data-language=cpp]").wait_for()
        page.locator(".jp-Notebook-cell >> nth=1").locator(".cm-content[data-language=go]").wait_for()

    @unittest.skipUnless(lab_widgets_test.installed(), lab_widgets_test.MISSING)
    def test_widgets(self):
        """A slider that is clicked, since Notebook 7 takes the arrow keys, a dropdown and a button."""
        page = self.open(notebook(lab_widgets_test.CELLS[:2]), width=1000, height=1000)
        self.run_all(page)
        cell = page.locator(".jp-Notebook-cell >> nth=0")
        cell.locator("text=rank 1 of sum has 2").wait_for(state="visible")
        track = cell.locator(".noUi-connects").bounding_box()
        page.mouse.click(track["x"] + track["width"] - 1, track["y"] + track["height"] / 2)
        cell.locator("text=rank 1 of sum has 8").wait_for(state="visible")
        cell.locator("select").select_option("max")
        cell.locator("text=rank 1 of max has 8").wait_for(state="visible")
        page.click("button:has-text('count') >> nth=-1")
        page.locator(".jp-Notebook-cell >> nth=1").locator("text=[0,1] clicked 1").wait_for(state="visible")


if __name__ == "__main__":
    unittest.main()
