package recorded

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/help"
	"github.com/symmrepl/symmrepl/session"
)

// Unchecked begins the message about a cell that ran but does not check after those before it.
const Unchecked = "it does not check after the cells before it: "

// Check checks the cells of a session in their order. The result has one for each; it is nil for a
// cell that failed and does not check. One that ran and does not check is an [Error].
func Check(checker *check.Checker, cells []session.Cell) ([]*check.Cell, error) {
	var list []*check.Cell
	for _, c := range cells {
		c.Name, c.Line = "", 0
		checked, err := checkCell(checker, c)
		if err != nil && c.Failed == "" {
			return nil, &Error{Cell: c.ID, Msg: Unchecked + err.Error(), Hint: "ranks that were restarted may have had other names"}
		}
		list = append(list, checked)
	}
	return list, nil
}

// checkCell checks the next cell and adds its definitions to the session.
func checkCell(checker *check.Checker, cell session.Cell) (*check.Cell, *session.Error) {
	syntax, failed := checker.Parse(cell)
	if failed != nil {
		return nil, help.Explain(failed)
	}
	c, failed := checker.Check(syntax)
	if failed != nil {
		return nil, help.Explain(failed)
	}
	checker.Define(c)
	return c, nil
}

// Title returns a cell's number and ranks as text, and why it failed.
func Title(c session.Cell) string {
	text := fmt.Sprintf("Cell %d", c.ID)
	if c.Ranks != nil {
		text += ", on ranks " + session.FormatRanks(c.Ranks)
	}
	if c.Failed != "" {
		text += ", failed and was left out: " + strings.Map(func(r rune) rune { return max(r, ' ') }, c.Failed)
	}
	return strings.TrimSuffix(text, ".")
}
