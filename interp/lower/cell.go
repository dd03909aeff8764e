package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/session"
)

// Cell is a lowered cell. Either Commit or Rollback ends it.
type Cell struct {
	Imports []string                                // import paths of the packages that it uses, under the names of ImportName
	Hidden  contract.Exports                        // symbols that it uses and that are in no table
	Types   map[string]types.Type                   // types that the runtime has to know, by key
	Decls   []ast.Decl                              // types, functions and variables; may be empty
	Local   map[*types.TypeName]contract.InFunction // types that functions declare
	// types to make before anything is compiled, and to complete before functions and variables are
	// compiled
	Recursive []contract.Recursive
	First     []ast.Decl // types to declare before Decls; may be empty
	// registers methods for compiled code, after Decls are executed; nil when there are none
	Methods *ast.FuncDecl
	Main    *ast.FuncDecl          // runs the cell's statements
	Replace []contract.Replacement // functions and methods that are defined again

	Points []*contract.Point // at which its code can stand; none if it cannot be debugged

	definitions *definitions
}

// Lower rewrites a checked cell for yaegi. The cell's syntax cannot be used for anything else
// afterwards. The program does not change until the lowered cell is committed.
//
// Code of a debugged cell can stand at points, which get numbers that the program has not used
// before.
func (p *Program) Lower(c *check.Cell, debugged bool) (*Cell, *session.Error) {
	l := p.newLowerer(c)
	l.predeclared = l.declaresPredeclared()
	if debugged {
		l.points.next = p.points + 1
	}
	for _, decl := range c.Decls {
		l.unqualify(decl)
	}
	l.unqualify(c.Body)
	d := p.define(l)
	out, err := l.cell(d)
	if err != nil {
		d.rollback()
		return nil, err
	}
	return out, nil
}

// Structs returns the struct types that the cell declares, by name in yaegi, and a function that
// returns a type's name in yaegi.
func (c *Cell) Structs() (structs map[string]*types.Struct, nameOf func(*types.Named) string) {
	l := c.definitions.l
	structs = map[string]*types.Struct{}
	for _, obj := range l.types {
		if n, ok := obj.Type().(*types.Named); ok {
			if st, ok := n.Underlying().(*types.Struct); ok {
				structs[l.ownType(n)] = st
			}
		}
	}
	return structs, l.ownType
}

// Variables returns the names in yaegi of the package-level variables that the cell declares there.
func (c *Cell) Variables() (names []string) {
	for _, s := range c.definitions.fresh {
		names = append(names, s.name)
	}
	return names
}

// Commit adds the cell's definitions to the session. It returns the variables whose names were
// defined again, and the names in yaegi of functions that no cell can call any more.
func (c *Cell) Commit() (retired []*Storage, dropped []string) {
	c.definitions.commit()
	return c.definitions.retired, c.definitions.dropped
}

// Rollback forgets a cell that yaegi rejected.
func (c *Cell) Rollback() { c.definitions.rollback() }

// cell lowers the whole cell.
func (l *lowerer) cell(d *definitions) (out *Cell, err *session.Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = l.c.TextOf(r.pos).ErrorAt(session.KindUnsupported, r.pos, r.msg)
		default:
			panic(r)
		}
	}()
	stacks, codes := l.asks()
	l.program.stacks, l.program.codes = l.program.stacks || stacks, l.program.codes || codes
	var low lowered
	l.declaredByCell(&low)
	low.body = append(l.topLevel(), l.callInits()...)
	for _, v := range l.c.Vars {
		l.typeExpr(v.Type(), v.Pos()) // records the instances in it
	}
	l.lowerPending(&low)
	for _, m := range l.c.AddedMethods {
		l.registerAdded(m.Method)
	}
	l.registerImplementations()
	low.funcs = append(low.funcs, l.declarations...)
	out = &Cell{Hidden: l.hidden, Types: l.noted, Local: l.inFunctions, Replace: d.replace, definitions: d}
	at := l.c.Body.Pos()
	if len(low.types) > 0 {
		out.Decls = []ast.Decl{&ast.GenDecl{TokPos: at, Tok: token.TYPE, Lparen: at, Specs: low.types}}
	}
	if len(l.recursive) > 0 {
		out.Recursive, out.First, out.Decls = l.recursive, out.Decls, nil
	}
	for _, f := range low.funcs {
		out.Decls = append(out.Decls, f)
	}
	var binds []ast.Stmt
	for _, s := range d.fresh {
		spec := &ast.ValueSpec{Names: []*ast.Ident{l.ident(at, s.name)}, Type: l.typeExpr(s.typ, at)}
		out.Decls = append(out.Decls, &ast.GenDecl{TokPos: at, Tok: token.VAR, Specs: []ast.Spec{spec}})
		binds = append(binds, l.bind(at, s.name))
	}
	if l.registrations != nil {
		out.Methods = l.init(l.registrations)
	}
	out.Main = l.init(append(binds, low.body...))
	out.Imports = slices.Collect(maps.Keys(l.imports))
	if out.Points = l.points.list; len(out.Points) > 0 {
		l.program.points = l.points.next - 1
	}
	return out, nil
}

// declaredByCell lowers the types, functions and methods that the cell declares, except for generic
// ones.
func (l *lowerer) declaredByCell(out *lowered) {
	for _, d := range l.c.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				if s := s.(*ast.TypeSpec); s.TypeParams == nil && s.Name.Name != "_" {
					out.types = append(out.types, l.typeSpec(s))
				}
			}
		}
	}
	out.types = l.containersFirst(out.types)
	for _, spec := range out.types {
		out.funcs = append(out.funcs, l.typeHelpers(spec.(*ast.TypeSpec))...)
	}
	for _, d := range l.c.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Type.TypeParams == nil && (f.Recv == nil || !check.HasTypeParams(f)) {
			out.funcs = append(out.funcs, l.funcDecl(f))
		}
	}
}

// callInits returns calls of a package's init functions.
func (l *lowerer) callInits() (calls []ast.Stmt) {
	for _, f := range l.c.Inits {
		calls = append(calls, &ast.ExprStmt{X: &ast.CallExpr{Fun: l.ident(f.Pos(), f.Name.Name), Lparen: f.Pos(), Rparen: f.Pos()}})
	}
	return calls
}

// topLevel lowers the cell's statements to the body of a function. Their variables outlive the
// function.
func (l *lowerer) topLevel() []ast.Stmt {
	stmts := l.c.Stmts
	var value *ast.ExprStmt
	if l.c.List != nil {
		stmts = stmts[:len(stmts)-1]
	}
	if l.c.Value != nil {
		value = stmts[len(stmts)-1].(*ast.ExprStmt)
		stmts = stmts[:len(stmts)-1]
	}
	l.renamePredeclared(l.c.Body)
	l.fn = l.newFunction(nil, l.c.Body.Body)
	l.fn.name = check.PackageName + ".main"
	out := l.stmts(stmts)
	if value != nil {
		out = append(append(out, l.stopBefore(value.X)...), l.show(value.X)...)
	}
	if l.c.List != nil {
		out = append(append(out, l.stopBefore(l.c.List[0])...), l.showList(l.c.List)...)
	}
	return l.finishFunction(l.c.Body.Body, out)
}

// Outdated lists the functions that go on calling the old version of a function that the cell has
// defined again with another signature, one line for each such function.
func (c *Cell) Outdated() (notes []string) {
	for _, k := range c.definitions.kept {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(k.users)) {
			names = append(names, fmt.Sprintf("%s (%s)", name, k.users[name]))
		}
		verb := "call"
		if len(names) == 1 {
			verb = "calls"
		}
		notes = append(notes, fmt.Sprintf("note: %s still %s the earlier %s%s; define it again to change that",
			strings.Join(names, ", "), verb, k.fn.Name(), strings.TrimPrefix(check.TypeName(k.fn.Signature()), "func")))
	}
	return notes
}
