package foreign

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// symmPath is the path of the package that cells call symm, and the prefix of the paths of its types.
const symmPath = "github.com/symmrepl/symmrepl/symmem"

// packageOf returns the path of the package of a qualified name, or "".
func (m *module) packageOf(e *ast.SelectorExpr) string {
	if id, ok := e.X.(*ast.Ident); ok {
		if p, ok := m.info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path()
		}
	}
	return ""
}

func basic(t types.Type) types.BasicInfo {
	if t == nil {
		return 0
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

// typeName names a type in messages.
func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// kindOf names a construct in messages.
func kindOf(n ast.Node) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast.")
	switch name {
	case "StarExpr", "TypeAssertExpr", "GoStmt", "DeferStmt", "SelectStmt", "SendStmt", "LabeledStmt", "TypeSwitchStmt", "GenDecl":
		return map[string]string{
			"StarExpr": "pointer", "TypeAssertExpr": "assertion of a type", "GoStmt": "goroutine", "DeferStmt": "defer",
			"SelectStmt": "select",
			"SendStmt":   "channel", "LabeledStmt": "label", "TypeSwitchStmt": "switch on a type", "GenDecl": "declaration of a type",
		}[name]
	}
	return name
}

// isFloat reports whether an expression is of a floating type.
func (m *module) isFloat(e ast.Expr) bool { return basic(m.info.TypeOf(e))&types.IsFloat != 0 }

// quote returns a string as a literal of Python.
func quote(s string) string {
	q := strconv.QuoteToASCII(s)
	return q // Python has Go's escapes; an escape of a byte that is not UTF-8 means the Latin-1 character in Python
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// changes reports whether any statement of the cell assigns to a variable again.
func (m *module) changes(v *types.Var) (found bool) {
	for _, n := range m.cell.nodes() {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, x := range n.Lhs {
					if id := identOf(x); id != nil && m.info.Uses[id] == v {
						found = true
					}
				}
			case *ast.IncDecStmt:
				if id := identOf(n.X); id != nil && m.info.Uses[id] == v && n.Tok == token.DEC {
					found = true
				}
			}
			return true
		})
	}
	return found
}

// assigns reports whether a block assigns to a variable.
func assigns(info *types.Info, body ast.Node, v types.Object) (found bool) {
	is := func(x ast.Expr) bool { id := identOf(x); return id != nil && info.Uses[id] == v }
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, is)
		case *ast.IncDecStmt:
			found = found || is(n.X)
		}
		return true
	})
	return found
}

// continues reports whether a loop's body continues that loop.
func continues(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			found = found || n.Tok == token.CONTINUE
		}
		return true
	})
	return found
}

// leaves reports whether a clause has a break or fallthrough of the switch.
func leaves(c *ast.CaseClause) (found bool) {
	for _, s := range c.Body {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit, *ast.SwitchStmt:
				return false
			case *ast.BranchStmt:
				found = found || n.Tok == token.BREAK || n.Tok == token.FALLTHROUGH
			}
			return true
		})
	}
	return found
}

// results returns the results of a function that have names.
func (m *module) results(t *ast.FuncType) (list []*types.Var) {
	if t.Results == nil {
		return nil
	}
	for _, field := range t.Results.List {
		for _, id := range field.Names {
			if v, ok := m.info.Defs[id].(*types.Var); ok {
				list = append(list, v)
			}
		}
	}
	return list
}

// isParam reports whether a variable is a parameter of the function at hand.
func (m *module) isParam(v *types.Var) bool {
	t := m.defs[len(m.defs)-1]
	return t.Pos() <= v.Pos() && v.Pos() < t.End()
}

// typeOf returns the name of a type of package symm, without its pointer, or "".
func (m *module) typeOf(e ast.Expr) string { return check.SymmType(m.info.TypeOf(e)) }

// option is typeOf of an argument, Timeout for an Option that is a Timeout.
func (m *module) option(e ast.Expr) string {
	kind := m.typeOf(e)
	if kind != "Option" {
		return kind
	}
	if id := identOf(e); id != nil && m.timeouts[m.info.Uses[id]] {
		return "Timeout"
	}
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if f, ok := c.Fun.(*ast.SelectorExpr); ok && m.packageOf(f) == symmPath && f.Sel.Name == "Timeout" {
			return "Timeout"
		}
	}
	return kind
}

// isBuiltin reports whether a call is that of a function of the language.
func (m *module) isBuiltin(c *ast.CallExpr, name string) bool {
	id := identOf(c.Fun)
	if id == nil || id.Name != name {
		return false
	}
	_, ok := m.info.Uses[id].(*types.Builtin)
	return ok
}

// kernelOf returns the name of the variable of the kernel of symm.Compile(...) and k.Kernel(...).
func (m *module) kernelOf(e ast.Expr) (string, bool) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return "", false
	}
	f, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	switch {
	case !ok:
	case m.packageOf(f) == symmPath && f.Sel.Name == "Compile":
		return m.compile(c), true
	case m.packageOf(f) == symmPath && f.Sel.Name == "LoadKernel":
		m.refuse("the kernel is in a file, which a program loads by cuModuleLoad and launches by cuLaunchKernel")
	case m.typeOf(f.X) == "Kernel" && f.Sel.Name == "Kernel":
		known := m.kernel(f.X)
		v := m.info.Types[c.Args[0]].Value
		for _, s := range m.sources {
			for _, k := range s.kernels {
				if k.variable == known && v != nil {
					return m.kernelNamed(s, constant.StringVal(v)), true
				}
			}
		}
		m.refuse("the name of the kernel is made when the cell runs")
	}
	return "", false
}

// kernel returns the name of the variable of a kernel.
func (m *module) kernel(e ast.Expr) string {
	if name, ok := m.kernelOf(e); ok {
		return name
	}
	return m.expr(e)
}

// alias gives variables that get compiled kernels the kernels' own names.
func (m *module) alias(s *ast.AssignStmt) bool {
	var kernels []string
	for i, x := range s.Rhs {
		name, ok := m.kernelOf(x)
		if !ok || len(s.Lhs) != len(s.Rhs) || identOf(s.Lhs[i]) == nil {
			return false
		}
		kernels = append(kernels, name)
	}
	if !m.top {
		m.refuse("a kernel is compiled at the top of a cell")
	}
	for i, x := range s.Lhs {
		obj := m.info.ObjectOf(identOf(x))
		m.of[obj] = kernels[i]
		delete(m.lost, obj)
	}
	return true
}
