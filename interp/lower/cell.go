package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run"
	"github.com/symmrepl/symmrepl/session"
)

// lowerer rewrites a checked cell for yaegi. Syntax is changed in place or replaced; positions stay those of the user's text.
type lowerer struct {
	program *Program
	checker *check.Checker
	c       *check.Cell
	info    *types.Info
	names   map[types.Object]string // what this cell's objects are called in yaegi
	// What functions that are defined again are called in their declaration; uses have the name of the first.
	declared     map[types.Object]string
	counters     map[types.Object]bool   // variables that are never negative
	renamed      map[types.Object]string // local variables that have another name in yaegi
	hoisted      map[types.Object]bool   // variables of the cell's top level
	places       map[*types.Var]*Storage // where they are kept
	imports      map[string]bool         // packages that the lowered code uses, by path
	hidden       run.Exports             // symbols for types that have no name in the tables
	types        map[*ast.TypeSpec]types.Object
	noted        map[string]types.Type // types of values that are converted, by key
	converters   map[string]string     // functions that convert to interfaces, declared by this cell, by types
	asserted     map[string]types.Type // interface types of cells that this cell asserts to, by key
	implementing map[string]bool       // pairs of a type and such an interface that the runtime knows from this cell
	declarations []*ast.FuncDecl       // of such helpers
	fn           *function             // the innermost function that is being lowered
	temps        int
	params       map[types.Object]bool        // type parameters of instances: they stand for the type arguments
	locals       []*types.TypeName            // types that functions declare
	localSpecs   []ast.Spec                   // their declarations
	instances    map[types.Object][]*instance // that this cell is the first to use
	pending      []*instance                  // of them, those that are not lowered yet
	silent       bool                         // what is lowered is of a package: it has no positions

	registrations []ast.Stmt // that make methods known to compiled code
}

func (p *Program) newLowerer(c *check.Cell) *lowerer {
	return &lowerer{
		program: p, checker: p.checker, c: c, info: c.Info,
		names: map[types.Object]string{}, declared: map[types.Object]string{}, counters: map[types.Object]bool{}, renamed: map[types.Object]string{},
		hoisted: map[types.Object]bool{}, places: map[*types.Var]*Storage{}, imports: map[string]bool{run.RuntimePath: true}, hidden: run.Exports{},
		types: map[*ast.TypeSpec]types.Object{}, noted: map[string]types.Type{}, converters: map[string]string{}, asserted: map[string]types.Type{},
		implementing: map[string]bool{}, params: map[types.Object]bool{}, instances: map[types.Object][]*instance{},
	}
}

// note has the runtime know the type of a key.
func (l *lowerer) note(key string, t types.Type) { l.noted[key] = t }

// refusal is the panic by which lowering gives up on a construct.
type refusal struct {
	pos token.Pos
	msg string
}

// refuse gives up: what says which construct and what to do instead.
func (l *lowerer) refuse(pos token.Pos, what string) { panic(refusal{pos, what}) }

// Cell is a lowered cell. Either Commit or Rollback ends it.
type Cell struct {
	Imports []string              // import paths of packages that it uses, which have the names of ImportName in it
	Hidden  run.Exports           // symbols that it uses and no table has
	Types   map[string]types.Type // what the runtime has to know types by, by key
	Decls   []ast.Decl            // types, functions and variables; may be empty
	Methods *ast.FuncDecl         // makes methods known to compiled code, after Decls have been executed; nil when there are none
	Main    *ast.FuncDecl         // runs the cell's statements
	Replace []run.Replacement     // functions and methods that are defined again

	definitions *definitions
}

// Lower rewrites a checked cell for yaegi; the cell's syntax cannot be used for anything else afterwards. The program stays as it is until the lowered cell is
// committed.
func (p *Program) Lower(c *check.Cell) (*Cell, *session.Error) {
	l := p.newLowerer(c)
	d := p.define(l)
	out, err := l.cell(d)
	if err != nil {
		d.rollback()
		return nil, err
	}
	return out, nil
}

// Commit makes the cell's definitions those of the session. It returns the variables whose names mean something else now, and the names of functions in yaegi that
// no cell can call any more.
func (c *Cell) Commit() (retired []*Storage, dropped []string) {
	c.definitions.commit()
	return c.definitions.retired, c.definitions.dropped
}

// Rollback forgets a cell that yaegi refused.
func (c *Cell) Rollback() { c.definitions.rollback() }

// lowered collects what a cell is lowered to.
type lowered struct {
	types []ast.Spec
	funcs []*ast.FuncDecl
	body  []ast.Stmt
}

// cell lowers the whole cell.
func (l *lowerer) cell(d *definitions) (out *Cell, err *session.Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = l.c.ErrorAt(session.KindUnsupported, r.pos, r.msg)
		default:
			panic(r)
		}
	}()
	var low lowered
	l.declaredByCell(&low)
	low.body = l.topLevel()
	for _, v := range l.c.Vars {
		l.typeExpr(v.Type(), v.Pos()) // notes the instances in it
	}
	l.lowerPending(&low)
	for _, m := range l.c.AddedMethods {
		l.registerAdded(m.Method)
	}
	l.registerImplementations()
	low.funcs = append(low.funcs, l.declarations...)
	out = &Cell{Hidden: l.hidden, Types: l.noted, Replace: d.replace, definitions: d}
	at := l.c.Body.Pos()
	if len(low.types) > 0 {
		out.Decls = append(out.Decls, &ast.GenDecl{TokPos: at, Tok: token.TYPE, Lparen: at, Specs: low.types})
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
	return out, nil
}

// declaredByCell lowers the types, functions and methods that the cell declares, but for generic ones.
func (l *lowerer) declaredByCell(out *lowered) {
	for _, d := range l.c.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				if s := s.(*ast.TypeSpec); s.TypeParams == nil {
					out.types = append(out.types, l.typeSpec(s))
				}
			}
		}
	}
	for _, spec := range out.types {
		out.funcs = append(out.funcs, l.typeHelpers(spec.(*ast.TypeSpec))...)
	}
	for _, d := range l.c.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Type.TypeParams == nil && (f.Recv == nil || !check.HasTypeParams(f)) {
			out.funcs = append(out.funcs, l.funcDecl(f))
		}
	}
}

// init is a function with statements that runs when its file is executed.
func (l *lowerer) init(body []ast.Stmt) *ast.FuncDecl {
	at := l.c.Body.Pos()
	return &ast.FuncDecl{Name: l.ident(at, "init"), Type: &ast.FuncType{Func: at, Params: &ast.FieldList{Opening: at}}, Body: block(at, body...)}
}

// bind has the runtime know where yaegi keeps the variable of a name.
func (l *lowerer) bind(at token.Pos, name string) ast.Stmt {
	return &ast.ExprStmt{X: l.helper(at, run.Bind, l.quoted(at, name), l.address(l.ident(at, name)))}
}

// topLevel lowers the cell's statements to the body of a function whose variables outlive it.
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
	out := l.stmts(stmts)
	if value != nil {
		out = append(out, l.show(value.X)...)
	}
	if l.c.List != nil {
		out = append(out, l.showList(l.c.List)...)
	}
	return l.finishFunction(l.c.Body.Body.Pos(), out)
}
