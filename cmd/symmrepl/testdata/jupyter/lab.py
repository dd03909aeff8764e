"""Base of the tests in JupyterLab: a server, and pages of a headless browser."""

import base64
import json
import os
import shutil
import socket
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
    """JupyterLab, with a browser. The tests of a class share the server, the browser and a page."""

    MODULE = "jupyterlab"  # the server's Python module

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.settings = settings = os.path.join(folder.name, "settings", "@jupyterlab", "apputils-extension")
        os.makedirs(settings)
        with open(os.path.join(settings, "notification.jupyterlab-settings"), "w") as f:
            json.dump({"fetchNews": "false"}, f)
        cls.notebooks = notebooks = os.path.join(folder.name, "notebooks")
        os.mkdir(notebooks)
        # Without the check, each page that is opened starts node to ask whether JupyterLab is to be built again.
        unchecked = {"page_config_data": {"buildCheck": False, "buildAvailable": False}}
        cls.command = [
            sys.executable, "-m", cls.MODULE, "--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token=t", "--ServerApp.root_dir=" + notebooks,
            f"--ServerApp.tornado_settings={unchecked}", "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True",
            "--LabApp.user_settings_dir=" + os.path.join(folder.name, "settings")]
        cls.serve()
        cls.addClassCleanup(cls.stop)
        browsers = sync_playwright().start()
        cls.addClassCleanup(browsers.stop)
        # A browser with a folder keeps compiled scripts, and pages in one window take less than pages in several.
        cls.browser = browsers.chromium.launch_persistent_context(
            os.path.join(cls.folder, "browser"), executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"],
            env={**os.environ, "XDG_RUNTIME_DIR": cls.folder})
        cls.addClassCleanup(cls.browser.close)
        cls.browser.set_default_timeout(1000 * PATIENCE)
        cls.page = cls.browser.pages[0]
        cls.url = cls.address()

    @classmethod
    def serve(cls):
        cls.server = subprocess.Popen(cls.command, stderr=subprocess.DEVNULL)

    @classmethod
    def address(cls):
        """Returns the server's address, once it answers. A server chooses a port before it listens there, and
        ends if another program has taken it meanwhile: then another server starts."""
        deadline = time.time() + PATIENCE
        while time.time() < deadline:
            if cls.server.poll() is not None:
                cls.serve()
            try:
                with open(os.path.join(jupyter_runtime_dir(), f"jpserver-{cls.server.pid}.json")) as f:
                    server = json.load(f)
                socket.create_connection((server["hostname"], server["port"]), timeout=PATIENCE).close()
                return server["url"]
            except (OSError, ValueError):  # not there yet, or not whole
                time.sleep(0.1)
        raise TimeoutError(cls.MODULE + " does not start")

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.wait(PATIENCE)

    def open(self, nb, theme="Light", width=1000, height=500):
        """Shows a notebook in the page, in a theme, and waits for its kernel, which is a new one."""
        file = f"{self._testMethodName}-{theme}.ipynb"
        with open(os.path.join(self.notebooks, file), "w") as f:
            json.dump(nb, f)
        self.page.set_viewport_size({"width": width, "height": height})
        self.show(self.page, file, theme)
        self.wait_for_kernel(self.page)
        self.page.wait_for_selector(f'body[data-jp-theme-name="JupyterLab {theme}"]', state="attached")
        return self.page

    def show(self, page, file, theme):
        """Replaces the notebook in the page, whose kernel ends."""
        if page.url == "about:blank":
            self.load(page, "lab/tree/", file, theme)
            return
        page.evaluate("""async ([path, theme]) => {
            const app = window.jupyterapp, before = [...app.shell.widgets("main")]
            await app.commands.execute("apputils:change-theme", {theme})
            await app.commands.execute("docmanager:open", {path})
            for (const widget of before) {
                const session = widget.sessionContext?.session?.id
                widget.dispose()
                if (session) app.serviceManager.sessions.shutdown(session)
            }
        }""", [file, "JupyterLab " + theme])
        page.wait_for_function("""path => {
            const shell = window.jupyterapp.shell, opened = [...shell.widgets("main")].find(widget => widget.context?.path === path)
            if (shell.currentWidget !== opened) shell.activateById(opened.id)  // a widget that ends takes the focus with it
            return shell.currentWidget === opened && opened.sessionContext.isReady
        }""", arg=file, polling=100)

    def load(self, page, folder, file, theme):
        with open(os.path.join(self.settings, "themes.jupyterlab-settings"), "w") as f:
            json.dump({"theme": "JupyterLab " + theme}, f)
        page.goto(self.url + folder + file + "?token=t&reset")

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
