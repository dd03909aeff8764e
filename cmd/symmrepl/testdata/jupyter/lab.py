"""Base of the tests in JupyterLab: a server, and pages of a headless browser."""

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


def notebook(sources):
    spec = {"kernelspec": {"name": "symmrepl", "display_name": "symmrepl", "language": "go"}}
    cells = [{"cell_type": "code", "id": f"c{i}", "execution_count": None, "metadata": {}, "outputs": [], "source": c} for i, c in enumerate(sources)]
    return {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}


@unittest.skipIf(sync_playwright is None, "playwright is not installed (pip install playwright)")
@unittest.skipIf(BROWSER is None, "there is no Chromium (apt-get install chromium, or name one in CHROMIUM)")
class Lab(unittest.TestCase):
    """JupyterLab, with a browser."""

    MODULE, FOLDER = "jupyterlab", "lab/tree/"  # the server's Python module, and the path of notebooks

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
        self.server = subprocess.Popen(
            [sys.executable, "-m", self.MODULE, "--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token=t", "--ServerApp.root_dir=" + notebooks,
             "--LabApp.extension_manager=readonly", "--LabApp.user_settings_dir=" + os.path.join(folder.name, "settings")],
            stderr=subprocess.DEVNULL)
        self.addCleanup(self.stop)
        self.url = self.address()
        browsers = sync_playwright().start()
        self.addCleanup(browsers.stop)
        self.browser = browsers.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"], env={**os.environ, "XDG_RUNTIME_DIR": self.folder})
        self.addCleanup(self.browser.close)

    def address(self):
        record = os.path.join(jupyter_runtime_dir(), f"jpserver-{self.server.pid}.json")
        deadline = time.time() + PATIENCE
        while time.time() < deadline and self.server.poll() is None:
            try:
                with open(record) as f:
                    return json.load(f)["url"]
            except (OSError, ValueError):  # not there yet, or not whole
                time.sleep(0.1)
        self.fail(self.MODULE + " does not start")

    def stop(self):
        self.server.terminate()
        self.server.wait(PATIENCE)

    def open(self, nb, theme="Light", width=1000, height=500):
        """Opens a notebook in a page, in a theme, and waits for its kernel. Each theme has its own kernel."""
        file = theme + ".ipynb"
        with open(os.path.join(self.notebooks, file), "w") as f:
            json.dump(nb, f)
        with open(os.path.join(self.settings, "themes.jupyterlab-settings"), "w") as f:
            json.dump({"theme": "JupyterLab " + theme}, f)
        page = self.browser.new_context(viewport={"width": width, "height": height}).new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(self.url + self.FOLDER + file + "?token=t&reset")
        self.wait_for_kernel(page)
        page.wait_for_selector(f'body[data-jp-theme-name="JupyterLab {theme}"]', state="attached")
        return page

    def wait_for_kernel(self, page):
        page.wait_for_selector("text=/^symmrepl .* [|] Idle$/")  # in the status bar; the toolbar's indicator is idle before there is a kernel, too

    def run_all(self, page):
        page.click("text=Run >> nth=0")
        page.click("text=Run All Cells")

    def picture(self, page, name):
        if PICTURES:
            page.screenshot(path=os.path.join(PICTURES, name))

    def contrasts(self, page, element, lines):
        """The best contrast in each of the lines of an element, measured on a screenshot as WCAG 2 defines it."""
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
