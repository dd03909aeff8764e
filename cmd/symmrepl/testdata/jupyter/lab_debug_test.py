"""JupyterLab's debugger, in both themes: python -m unittest lab_debug_test."""

import unittest

from lab import Lab, notebook

SETUP = """x := symm.Empty(symm.F32, 8, 16).Arange()
steps := []string{"fill", "reduce"}"""

CELL = """func scale(n int) int {
	factor := 10 * (symm.Rank() + 1)
	return n * factor
}
total := 0
for i := range 3 {
	total += scale(i)
}
total"""


class Debugger(Lab):
    def breakpoint(self, page, cell, line):
        """Clicks beside a line of a cell."""
        page.locator(".jp-Notebook .jp-CodeCell").nth(cell).locator(".cm-breakpoint-gutter .cm-gutterElement").nth(line).click()

    def test_stop_in_a_cell(self):
        for theme in ("Light", "Dark"):
            page = self.open(notebook([SETUP, CELL]), theme, width=1500, height=900)
            page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
            page.keyboard.press("Shift+Enter")
            page.wait_for_selector(".jp-Notebook .jp-InputPrompt:text-is('[1]:')")
            page.click(".jp-DebuggerBugButton")
            panel = page.locator("#jp-debugger-sidebar")
            panel.wait_for(state="visible")
            names = panel.locator(".jp-DebuggerVariables-name")
            # Without a breakpoint: the session's variables, and the ranks.
            panel.locator(".jp-DebuggerVariables-name:text-is('steps')").wait_for()
            self.assertEqual(names.all_inner_texts(), ["x", "steps", "rank 0", "rank 1"])
            self.assertEqual(panel.locator(".jp-DebuggerVariables-detail").nth(1).inner_text(), '[]string{"fill", "reduce"}')
            panel.locator(".jp-DebuggerVariables-name:text-is('x')").click()
            panel.locator(".jp-DebuggerVariables-name:text-is('values')").wait_for()
            self.picture(page, f"lab-debug-variables-{theme.lower()}.png")

            self.breakpoint(page, 1, 3)  # the gutter's first element is a spacer
            panel.locator(".jp-DebuggerBreakpoint").wait_for()
            page.locator(".jp-Notebook .jp-CodeCell .cm-content").nth(1).click()
            page.keyboard.press("Shift+Enter")
            page.wait_for_selector(".jp-DebuggerEditor-highlight")
            panel.locator(".jp-DebuggerVariables-name:text-is('factor')").wait_for()
            # The panel names the cell, not the path that stands for it.
            shown = panel.inner_text()
            self.assertIn("Cell [*]", shown)
            self.assertNotIn(".go", shown)
            scopes = panel.locator(".jp-DebuggerVariables-toolbar select option")
            self.assertEqual(scopes.all_inner_texts(), ["rank 0", "rank 1"])
            panel.locator(".jp-DebuggerVariables-toolbar select").select_option("rank 1")
            detail = panel.locator(".jp-DebuggerVariables-detail:text-is('int = 20')")
            detail.wait_for()
            self.picture(page, f"lab-debug-stopped-{theme.lower()}.png")
            panel.locator("[data-command='debugger:next'], .jp-DebuggerCallstack button[title^='Next']").first.click()
            page.wait_for_selector(".jp-DebuggerEditor-highlight")
            page.click(".jp-DebuggerBugButton")  # leaving lets the ranks go on
            page.wait_for_selector("text=[1] 60")


if __name__ == "__main__":
    unittest.main()
