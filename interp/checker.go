package interp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/session"
)

// Checker checks the cells of a session one after the other, as Eval does, without running them. It tells other compilers of
// cells what their names mean.
type Checker struct{ in *Interp }

// Checked is a cell that type-checks. Positions of its syntax become places in its source by Offset.
type Checked struct {
	Decls   []ast.Decl // functions, types and constants
	Stmts   []ast.Stmt // everything else
	Info    *types.Info
	Objects map[string]types.Object // functions, types and constants it declares
	Vars    []*types.Var            // variables of its top level, in order
	Value   ast.Expr                // the last expression, if its value is shown
	List    []ast.Expr              // the last expressions, if there are several
	Values  []types.Type            // of Value, or of List

	// VarDecls are the places in the source of the declarations of variables that Stmts has in pieces.
	VarDecls []VarDecl
	// Outside are the places in the source, from and to, of imports, functions, types and constants.
	Outside [][2]int

	text *cellText
}

// VarDecl is a declaration of variables of a cell's top level, as places in the source.
type VarDecl struct {
	Start, End     int
	Lparen, Rparen int // -1 without parentheses
}

// NewChecker returns a checker of a session's cells, from its first on.
func NewChecker(options Options) (*Checker, error) {
	in := &Interp{options: options, fset: token.NewFileSet()}
	in.runtime = newCellRuntime(in)
	in.pkgs = newPackages(in.fset, in.tables())
	return &Checker{in}, in.openScope()
}

// Importer finds the packages that cells may use.
func (k *Checker) Importer() types.Importer { return k.in.pkgs }

// Package is the one that all cells are in.
func (k *Checker) Package() *types.Package { return k.in.pkg }

// Check checks the next cell. One that has errors defines nothing.
func (k *Checker) Check(cell session.Cell) (*Checked, *session.Error) {
	src, err := k.in.parse(cell)
	if err != nil {
		return nil, err
	}
	c, err := k.in.check(src)
	if err != nil {
		return nil, err
	}
	scope := k.in.scope
	for name, path := range c.imports {
		delete(scope.objects, name)
		scope.imports[name] = path
	}
	for _, path := range c.dots {
		if !slices.Contains(scope.dots, path) {
			scope.dots = append(scope.dots, path)
		}
	}
	define := func(name string, obj types.Object) {
		delete(scope.imports, name)
		scope.objects[name] = obj
	}
	for name, obj := range c.objects {
		define(name, obj)
	}
	for _, v := range c.vars {
		define(v.Name(), v)
	}
	var outside [][2]int
	items, _ := split(cell.Source) // it has been split before
	for _, it := range items {
		if it.decl {
			outside = append(outside, [2]int{it.start, it.end})
		}
	}
	vars := varDecls(cell.Source, items)
	return &Checked{
		Outside: outside, VarDecls: vars, List: c.list, Decls: c.decls, Stmts: c.stmts, Info: c.info, Objects: c.objects, Vars: c.vars,
		Value: c.value, Values: c.values, text: c.cellText,
	}, nil
}

// varDecls finds the declarations of variables of a cell, which has been parsed before.
func varDecls(source string, items []item) []VarDecl {
	if n := len(items) - 1; n >= 0 && items[n].list {
		items = items[:n]
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, fileName, stmtsHeader+blank(source, items, false)+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	offset := func(pos token.Pos) int {
		if !pos.IsValid() {
			return -1
		}
		return fset.PositionFor(pos, false).Offset - len(stmtsHeader)
	}
	var list []VarDecl
	for _, s := range f.Decls[0].(*ast.FuncDecl).Body.List {
		for l, ok := s.(*ast.LabeledStmt); ok; l, ok = s.(*ast.LabeledStmt) {
			s = l.Stmt
		}
		if isVarDecl(s) {
			d := s.(*ast.DeclStmt).Decl.(*ast.GenDecl)
			list = append(list, VarDecl{offset(d.Pos()), offset(d.End()), offset(d.Lparen), offset(d.Rparen)})
		}
	}
	return list
}

// Offset is where in the cell's source pos is.
func (c *Checked) Offset(pos token.Pos) int {
	for _, f := range c.text.files {
		if f.file != nil && int(pos) >= f.file.Base() && int(pos) <= f.file.Base()+f.file.Size() {
			return f.file.Offset(pos) - f.header
		}
	}
	return 0
}

// TypeName writes a type as the session shows it.
func TypeName(t types.Type) string { return typeName(t) }

// ReceiverName returns the identifier of a method's base type, nil for functions.
func ReceiverName(f *ast.FuncDecl) *ast.Ident { return receiverName(f) }
