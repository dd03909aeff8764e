"""JupyterLab in a headless browser: python -m unittest lab_test."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from jupyter_core.paths import jupyter_runtime_dir

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PICTURES = os.environ.get("SYMMREPL_PICTURES")  # where screenshots are kept

PATIENCE = 120  # seconds, for each thing that has to come

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
    "h.WaitSignal(1-symm.Rank(), 0)",
]


@unittest.skipIf(sync_playwright is None, "playwright is not installed (pip install playwright)")
@unittest.skipIf(BROWSER is None, "there is no Chromium (apt-get install chromium, or name one in CHROMIUM)")
class Lab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        settings = os.path.join(folder.name, "settings", "@jupyterlab", "apputils-extension")
        os.makedirs(settings)
        with open(os.path.join(settings, "notification.jupyterlab-settings"), "w") as f:
            json.dump({"fetchNews": "false"}, f)
        notebooks = os.path.join(folder.name, "notebooks")
        os.mkdir(notebooks)
        spec = {"kernelspec": {"name": "symmrepl", "display_name": "symmrepl", "language": "go"}}
        cells = [{"cell_type": "code", "id": f"c{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": c} for i, c in enumerate(CELLS)]
        with open(os.path.join(notebooks, "n.ipynb"), "w") as f:
            json.dump({"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}, f)
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token=t", "--ServerApp.root_dir=" + notebooks,
             "--LabApp.extension_manager=readonly", "--LabApp.user_settings_dir=" + os.path.join(folder.name, "settings")],
            stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop)
        self.url = self.address()

    def address(self):
        record = os.path.join(jupyter_runtime_dir(), f"jpserver-{self.server.pid}.json")
        deadline = time.time() + PATIENCE
        while time.time() < deadline and self.server.poll() is None:
            try:
                with open(record) as f:
                    return json.load(f)["url"]
            except (OSError, ValueError):  # not there yet, or not whole
                time.sleep(0.1)
        self.fail("JupyterLab does not start")

    def stop(self):
        self.server.terminate()
        self.server.wait(PATIENCE)

    def picture(self, page, name):
        if PICTURES:
            page.screenshot(path=os.path.join(PICTURES, name))

    def tabs(self, page):
        """A tensor that differs has a tab for each rank: the first is open, a click opens another."""
        first, second = page.locator("td:text-is('10') >> nth=0"), page.locator("td:text-is('11') >> nth=0")
        first.wait_for(state="visible")
        self.assertFalse(second.is_visible())
        page.click("summary:text-is('rank 1')")
        second.wait_for(state="visible")
        self.assertTrue(first.is_visible())
        page.click("summary:text-is('rank 0')")
        first.wait_for(state="hidden")

    def test_notebook(self):
        with sync_playwright() as p:
            browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"], env={**os.environ, "XDG_RUNTIME_DIR": self.folder})
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.set_default_timeout(1000 * PATIENCE)
            page.goto(self.url + "lab/tree/n.ipynb?token=t")
            page.wait_for_selector(".jp-Notebook .jp-Cell >> nth=3")
            page.wait_for_selector("text=/^symmrepl .* [|] Idle$/")  # in the status bar; the toolbar's indicator is idle before there is a kernel, too
            page.click("text=Run >> nth=0")
            page.click("text=Run All Cells")
            page.wait_for_selector("text=[0,1] the same on all ranks")
            page.wait_for_selector("text=[1] 1")
            page.wait_for_selector(".jp-RenderedSVG img, .jp-RenderedSVG svg")
            page.wait_for_selector("text=waits in wait_signal")
            self.tabs(page)
            self.picture(page, "lab-waits.png")
            page.click("text=Kernel >> nth=0")
            page.click("text=Interrupt Kernel")
            page.wait_for_selector("text=interrupted >> nth=0")
            page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
            self.picture(page, "lab-interrupted.png")
            browser.close()


if __name__ == "__main__":
    unittest.main()
