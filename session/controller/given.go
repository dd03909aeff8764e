package controller

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// givenVariables are the variables that programs have given values which are in no cell, by name, each
// with the last cell before. A replay cannot give them again.
type givenVariables map[string]int

// gives notes a silent cell that has succeeded.
func (g givenVariables) gives(cell session.Cell, after int) {
	if cell.Gives != "" {
		g[cell.Gives] = after
	}
}

// note returns the remark of a replay before it runs cells: it names the variables that they use
// and that a program had given a value before; "" if there are none.
func (g givenVariables) note(cells []session.Cell) string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		defined := regexp.MustCompile(`(?m)^\s*(?:var\s+` + regexp.QuoteMeta(name) + `\b|` + regexp.QuoteMeta(name) + `\s*:=)`)
		at := slices.IndexFunc(cells, func(c session.Cell) bool { return word.MatchString(c.Source) })
		if at >= 0 && cells[at].ID > g[name] && !defined.MatchString(cells[at].Source) {
			missing = append(missing, fmt.Sprintf("%s, which %s uses", name, cells[at].Title()))
		}
	}
	if missing == nil {
		return ""
	}
	return "the replay cannot give values that a program has put: " + strings.Join(missing, "; ") + ". Put them, and enter the cells after that again\n"
}
