package help

import (
	"errors"
	"maps"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// Guide answers questions about a session's names and about a cell that is being typed. It does not
// change the session.
type Guide struct {
	checker  *check.Checker
	declared map[string]string // text of the cells' declarations, by "name" or "Type.Method"
	sources  map[string]string // text that defined a name of the session, by the same
}

// New returns a guide to a checker's session.
func New(k *check.Checker) *Guide { return &Guide{k, map[string]string{}, map[string]string{}} }

// Declare remembers the text of a cell's declarations and the source of its names: see
// check.Cell.Declarations and check.Cell.Sources.
func (h *Guide) Declare(declarations, sources map[string]string) {
	maps.Copy(h.declared, declarations)
	maps.Copy(h.sources, sources)
}

// checkExpr checks an expression as the last one of a cell. The expression may use packages without
// importing them.
func (h *Guide) checkExpr(expr string) (*check.Cell, error) {
	p, f := h.checker.Parse(session.Cell{Name: "expression", Source: expr})
	if f != nil {
		return nil, Explain(f)
	}
	c, f := h.checker.Check(p)
	if f != nil {
		h.checker.Forget(p.Text)
		return nil, Explain(f)
	}
	h.checker.DropPackages(c.Packages)
	return c, nil
}

var errNoExpression = errors.New("that is no expression with a value")
