"""Widgets in JupyterLab with the extension of ipywidgets: python -m unittest lab_widgets_test."""

import os
import unittest

from jupyter_core.paths import jupyter_path

from lab import Lab, notebook

EXTENSION = os.path.join("labextensions", "@jupyter-widgets", "jupyterlab-manager", "package.json")

CELLS = [
    '''display.Interact(func(n int, op string) *chart.Chart {
	fmt.Println("rank", symm.Rank(), "of", op, "has", n*symm.Rank())
	var wave []float64
	for i := range 20 * n {
		wave = append(wave, math.Sin(float64(i)/5))
	}
	return chart.Lines(wave)
}, display.Slider("n", 2, 1, 8), display.Dropdown("op", "sum", "max"))''',
    'clicks := 0\ndisplay.Button("count", func() { clicks++; fmt.Println("clicked", clicks) })',
    'x := display.Slider("x", 4, 0, 8)\ndisplay.Interact(func(x int) int { return 8 / x }, x)',
]


MISSING = "there is no jupyterlab_widgets (pip install jupyterlab_widgets, or name the folder share/jupyter that has it in JUPYTER_PATH)"


def installed():
    """Returns whether the extension of ipywidgets is installed."""
    return any(os.path.exists(os.path.join(folder, EXTENSION)) for folder in jupyter_path())


@unittest.skipUnless(installed(), MISSING)
class Widgets(Lab):
    def text(self, page, cell, want):
        """Waits for a text in the outputs of a cell."""
        page.locator(f".jp-Notebook-cell >> nth={cell}").locator(f".jp-OutputArea-output:has-text('{want}') >> nth=0").wait_for(state="visible")

    def move(self, page, cell, keys):
        """Moves the slider of a cell with the keyboard."""
        page.locator(f".jp-Notebook-cell >> nth={cell}").locator(".noUi-handle").first.focus()
        for key in keys:
            page.keyboard.press(key)

    def test_widgets(self):
        for theme in ("Light", "Dark"):
            page = self.open(notebook(CELLS), theme, width=1000, height=1000)
            self.run_all(page)
            self.text(page, 0, "rank 1 of sum has 2")
            chart = page.locator(".jp-Notebook-cell >> nth=0").locator(".jp-RenderedSVG, .jp-RenderedImage")
            self.assertEqual(chart.count(), 1)
            self.move(page, 0, ["ArrowRight"] * 3)
            self.text(page, 0, "rank 1 of sum has 5")
            page.locator(".jp-Notebook-cell >> nth=0").locator("select").select_option("max")
            self.text(page, 0, "rank 1 of max has 5")
            self.assertEqual(page.locator("text=/has 2/").count(), 0)  # replaced
            self.assertEqual(chart.count(), 1)
            for n in (1, 2):
                page.click("button:has-text('count') >> nth=-1")
                self.text(page, 1, f"[0,1] clicked {n}")
            self.text(page, 2, "[0,1] 2")
            self.move(page, 2, ["Home"])
            self.text(page, 2, "integer divide by zero")
            self.picture(page, f"lab-widgets-{theme.lower()}.png")
            self.move(page, 2, ["End"])
            self.text(page, 2, "[0,1] 1")
            if theme == "Light":
                self.reload(page)

    def reload(self, page):
        """A page that is opened again has the widgets as they are."""
        page.keyboard.press("Control+s")
        page.wait_for_timeout(1000)
        page.reload()
        self.wait_for_kernel(page)
        self.text(page, 0, "rank 1 of max has 5")
        self.move(page, 0, ["ArrowRight"])
        self.text(page, 0, "rank 1 of max has 6")


if __name__ == "__main__":
    unittest.main()
