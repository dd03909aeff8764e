package lower

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// In a cell that can be debugged, each statement follows a call of contract.StopAt with the number
// of a contract.Point and the local variables that are visible there. The functions of such a cell
// begin with contract.Enter, so that the debugger knows the calls that a goroutine is in.

// points collects the points of a cell.
type points struct {
	list []*contract.Point
	next int // number of the next point; 0 if the cell cannot be debugged
}

// isDebugged reports whether the code that is being lowered gets points.
func (l *marker) isDebugged() bool { return l.points.next > 0 && !l.silent }

// tracesCalls reports whether functions record the calls of each goroutine.
func (l *marker) tracesCalls() bool { return !l.silent && (l.program.stacks || l.points.next > 0) }

// localsOf returns the variables that a function declares, the last first, not counting functions in
// it. Fields are its receiver, parameters and results.
func (l *marker) localsOf(body *ast.BlockStmt, fields ...*ast.FieldList) (list []*types.Var) {
	if !l.isDebugged() {
		return nil
	}
	add := func(obj types.Object) {
		if v, ok := obj.(*types.Var); ok && v.Name() != "_" && v.Name() != "" {
			list = append(list, v)
		}
	}
	for _, f := range fields {
		if f == nil {
			continue
		}
		for _, f := range f.List {
			for _, id := range f.Names {
				add(l.info.Defs[id])
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.StructType:
			return false
		case *ast.Ident:
			add(l.info.Defs[n])
		case *ast.CaseClause:
			if obj := l.info.Implicits[n]; obj != nil {
				add(obj)
			}
		}
		return true
	})
	slices.SortStableFunc(list, func(a, b *types.Var) int { return cmp.Compare(b.Pos(), a.Pos()) })
	return list
}
