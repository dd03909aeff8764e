"""JupyterLab in a headless browser: python -m unittest lab_test."""

import base64
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


def notebook(sources):
    spec = {"kernelspec": {"name": "symmrepl", "display_name": "symmrepl", "language": "go"}}
    cells = [{"cell_type": "code", "id": f"c{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": c} for i, c in enumerate(sources)]
    return {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}


@unittest.skipIf(sync_playwright is None, "playwright is not installed (pip install playwright)")
@unittest.skipIf(BROWSER is None, "there is no Chromium (apt-get install chromium, or name one in CHROMIUM)")
class Lab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.settings = settings = os.path.join(folder.name, "settings", "@jupyterlab", "apputils-extension")
        os.makedirs(settings)
        with open(os.path.join(settings, "notification.jupyterlab-settings"), "w") as f:
            json.dump({"fetchNews": "false"}, f)
        self.notebooks = notebooks = os.path.join(folder.name, "notebooks")
        os.mkdir(notebooks)
        with open(os.path.join(notebooks, "n.ipynb"), "w") as f:
            json.dump(notebook(CELLS), f)
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

    def contrasts(self, page, element, lines):
        """The best contrast in each of the lines of an element, measured on a screenshot as WCAG 2 has it."""
        picture = "data:image/png;base64," + base64.b64encode(element.screenshot()).decode()
        return page.evaluate("""async ([picture, lines]) => {
            const image = new Image()
            image.src = picture
            await image.decode()
            const canvas = new OffscreenCanvas(image.width, image.height), paper = canvas.getContext("2d")
            paper.drawImage(image, 0, 0)
            const data = paper.getImageData(0, 0, image.width, image.height).data
            const linear = v => v <= 10.3 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4
            const light = i => 0.2126 * linear(data[i]) + 0.7152 * linear(data[i + 1]) + 0.0722 * linear(data[i + 2])
            const background = light(4 * (image.width * Math.floor(image.height / 2) + image.width - 3)) + 0.05  // right of the text
            const best = Array(lines).fill(1)
            for (let y = 0; y < image.height; y++)
                for (let x = 0; x < image.width - 3; x++) {
                    const line = Math.min(lines - 1, Math.floor(y * lines / image.height)), ink = light(4 * (y * image.width + x)) + 0.05
                    best[line] = Math.max(best[line], ink / background, background / ink)
                }
            return best
        }""", [picture, lines])

    def test_errors_can_be_read(self):
        """All lines of an error have a contrast of 4.5:1 or more, in the light theme and in the dark one; remarks are not drawn as errors."""
        with open(os.path.join(self.notebooks, "n.ipynb"), "w") as f:
            json.dump(notebook(["%restart\nsort.Ints(nil)\nx := 1", "y := x +\n1\nrank = y"]), f)
        with sync_playwright() as p:
            browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"], env={**os.environ, "XDG_RUNTIME_DIR": self.folder})
            for theme in ("Light", "Dark"):
                with open(os.path.join(self.settings, "themes.jupyterlab-settings"), "w") as f:
                    json.dump({"theme": "JupyterLab " + theme}, f)
                page = browser.new_context(viewport={"width": 1000, "height": 500}).new_page()
                page.set_default_timeout(1000 * PATIENCE)
                page.goto(self.url + "lab/tree/n.ipynb?token=t&reset")
                page.wait_for_selector("text=/^symmrepl .* [|] Idle$/")
                page.wait_for_selector(f'body[data-jp-theme-name="JupyterLab {theme}"]', state="attached")
                page.click("text=Run >> nth=0")
                page.click("text=Run All Cells")
                error = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error'], .jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']")
                error.first.wait_for(state="visible")
                page.wait_for_selector("text=note: imported")
                self.assertEqual(error.count(), 1)  # the remark is no other
                lines = error.first.inner_text().strip().splitlines()
                got = self.contrasts(page, error.first.locator("pre"), len(lines))
                print(f"contrast of an error, {theme}: {min(got):.1f}", file=sys.stderr)
                self.assertGreater(min(got), 4.5, (theme, got))
                self.picture(page, f"lab-error-{theme.lower()}.png")
                page.close()
            browser.close()

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
