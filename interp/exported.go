package interp

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
)

// ExportChecker checks cells for other compilers of cells.
type ExportChecker struct{ *Checker }

// NewExportChecker returns a checker of a session's cells, from its first on.
func NewExportChecker() (*ExportChecker, error) {
	k, err := NewChecker(token.NewFileSet(), symbols.Tables(), nil)
	return &ExportChecker{k}, err
}

// Checked is a cell that type-checks. Positions of its syntax become places in its source by Offset.
type Checked struct {
	Decls    []ast.Decl
	Stmts    []ast.Stmt
	Info     *types.Info
	Objects  map[string]types.Object
	Vars     []*types.Var
	Value    ast.Expr
	List     []ast.Expr
	Values   []types.Type
	VarDecls []VarDecl
	Outside  [][2]int

	text *cellText
}

// Importer finds the packages that cells may use.
func (k *ExportChecker) Importer() types.Importer { return k.pkgs }

// Check checks the next cell. One that has errors defines nothing.
func (k *ExportChecker) Check(cell session.Cell) (*Checked, *session.Error) {
	src, failed := k.parse(cell)
	if failed != nil {
		return nil, explained(failed)
	}
	c, failed := k.check(src)
	if failed != nil {
		return nil, explained(failed)
	}
	k.Define(c)
	return &Checked{
		Outside: c.Outside(), VarDecls: c.VarDecls(), List: c.list, Decls: c.decls, Stmts: c.stmts, Info: c.info, Objects: c.objects, Vars: c.vars,
		Value: c.value, Values: c.values, text: c.cellText,
	}, nil
}

// Offset is where in the cell's source pos is.
func (c *Checked) Offset(pos token.Pos) int { return max(c.text.offset(pos), 0) }

// TypeName writes a type as the session shows it.
func TypeName(t types.Type) string { return typeName(t) }

// ReceiverName returns the identifier of a method's base type, nil for functions.
func ReceiverName(f *ast.FuncDecl) *ast.Ident { return receiverName(f) }
