package check

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Attempt is the check of one cell. If it fails, its Cell has the results up to the failure.
type Attempt struct {
	Checker *Checker
	Cell    *Cell

	errs     []diagnostic
	source   *session.Error           // of an imported package
	at       map[diagnostic]token.Pos // positions of errors in the syntax
	undo     []func()                 // functions that undo the check's changes to types of earlier cells
	tolerant bool                     // go on after errors, to learn as much as possible about an incomplete cell
	brief    bool                     // a cell with errors is checked once more: see Check
	packages map[string]string        // import paths of the packages that the text may name, by that name
	value    token.Pos                // where the last expression begins while the statements are checked
}

// Check type-checks a cell in three stages, each of which sees the results of those before it:
// declarations without the bodies of functions, statements, and bodies. So functions may use
// variables that the cell's statements define. The session does not change.
//
// The first attempt supposes that the cell has no errors. It leaves out facts that only hints need,
// and checks bodies with their declarations if no stage depends on the order.
func (k *Checker) Check(p *Syntax) (*Cell, *Failure) {
	auto := map[string]string{}
	for brief := len(p.cell.Program) == 0; ; brief = false {
		a := k.attempt(p, auto)
		if a.brief = brief; brief {
			a.Cell.Info.Scopes = nil
		}
		a.run()
		if len(a.errs) == 0 && a.source == nil {
			a.Cell.Packages = k.pkgs.takeFresh()
			return a.Cell, nil
		}
		a.revert()
		if a.source != nil {
			k.dropFresh()
			return nil, &Failure{Err: a.source}
		}
		if !brief && !a.missingImports() {
			k.dropFresh()
			err := p.errorOf(session.KindType, a.errs) // also sorts them
			first := a.errs[0]
			return nil, &Failure{Err: err, Attempt: a, Msg: first.msg, At: a.at[first]}
		}
	}
}

// attempt begins the check of a cell that also imports the packages in auto.
func (k *Checker) attempt(p *Syntax, auto map[string]string) *Attempt {
	k.pkgs.loading.dir = "."
	if p.Name != "" {
		k.pkgs.loading.dir = filepath.Dir(p.Name)
	}
	return &Attempt{Checker: k, at: map[diagnostic]token.Pos{}, Cell: newCell(p, auto, len(p.cell.Source))}
}

// newCell returns a cell whose source has size bytes.
func newCell(p *Syntax, auto map[string]string, size int) *Cell {
	return &Cell{Syntax: p, Imports: maps.Clone(auto), Auto: auto, Info: &types.Info{
		Types:      make(map[ast.Expr]types.TypeAndValue, size/8),
		Defs:       make(map[*ast.Ident]types.Object, size/32),
		Uses:       make(map[*ast.Ident]types.Object, size/12),
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances:  map[*ast.Ident]types.Instance{},
		Scopes:     make(map[ast.Node]*types.Scope, size/32),
	}}
}

// revert undoes the check's changes to types of earlier cells.
func (k *Attempt) revert() {
	for _, undo := range slices.Backward(k.undo) {
		undo()
	}
}

// failed reports whether the check has to stop.
func (k *Attempt) failed() bool { return (len(k.errs) > 0 || k.source != nil) && !k.tolerant }

func (k *Attempt) run() {
	c, scope := k.Cell, k.Checker.scope
	for _, spec := range c.Syntax.imports {
		k.importSpec(spec)
	}
	for name, path := range c.passing {
		c.Imports[name] = path
		defer delete(c.Imports, name)
	}
	if k.failed() {
		return
	}
	k.packages = k.Imports()
	maps.DeleteFunc(k.packages, func(name, _ string) bool { return !strings.Contains(c.cell.Source, name) })
	known := names{k.Checker.visible, map[string]types.Object{}}
	k.Checker.hide()
	for _, path := range c.Dots {
		for name, obj := range k.Checker.pkgs.exported(path) {
			if scope.objects[name] == nil {
				known.define(name, obj)
			}
		}
	}
	for name := range c.Imports {
		known.define(name, nil)
	}
	if len(c.cell.Program) > 0 {
		if k.program(known); k.failed() {
			return
		}
	}
	var decls, bodies []ast.Decl
	var foreign []*ast.FuncDecl
	for _, d := range c.Decls {
		if _, ok := d.(*ast.FuncDecl); !ok {
			decls = append(decls, d)
		}
	}
	for _, id := range declaredNames(c.Decls) {
		known.define(id.Name, nil)
	}
	vars := c.varsOfConstants()
	together := k.brief && len(vars) == 0 && k.standAlone(known)
	for _, d := range c.Decls {
		f, ok := d.(*ast.FuncDecl)
		switch {
		case !ok:
		case f.Body == nil:
			k.errorAt(f.Pos(), "missing function body")
		case together:
			decls = append(decls, f)
		case f.Recv == nil:
			decls = append(decls, stub(f))
			bodies = append(bodies, body(f))
		case k.isForeign(f, known) && HasTypeParams(f):
			k.errorAt(f.Name.Pos(), "methods of a generic type must be in the cell that declares it; declare the type again, with all its methods")
		case k.isForeign(f, known):
			foreign = append(foreign, f)
			decls = append(decls, stub(body(f)))
			bodies = append(bodies, body(f))
		case HasTypeParams(f) && genericType(c.Decls, ReceiverName(f)) != nil:
			decls = append(decls, stub(f))
			bodies = append(bodies, genericBody(f, genericType(c.Decls, ReceiverName(f))))
		case HasTypeParams(f):
			decls = append(decls, f) // of nothing that has any: an error
		default:
			decls = append(decls, stub(f))
			bodies = append(bodies, body(f))
		}
	}
	for _, id := range declaredNames(vars) {
		known.define(id.Name, nil)
	}
	k.stage(known, slices.Concat(decls, vars))
	for _, id := range declaredNames(vars) { // the statements declare them
		delete(known.own, id.Name)
	}
	if k.failed() {
		return
	}
	c.Objects = map[string]types.Object{}
	for _, id := range declaredNames(decls) {
		obj := k.Checker.visible[id.Name]
		if obj == nil {
			continue // the blank identifier
		}
		known.define(id.Name, obj)
		if !strings.ContainsRune(id.Name, '#') {
			c.Objects[id.Name] = obj
		}
	}
	for _, f := range foreign {
		k.addMethod(f, known)
		known.define(bodyName(f), nil)
	}
	if len(c.Stmts) > 0 {
		k.statements(known)
	}
	if k.failed() {
		return
	}
	for _, v := range c.Vars {
		if obj := c.Objects[v.Name()]; obj != nil {
			k.errorAt(v.Pos(), v.Name()+" redeclared in this cell")
		}
		known.define(v.Name(), v)
	}
	if len(bodies) > 0 {
		k.stage(known, bodies)
	}
	if len(k.errs) == 0 {
		c.keepGenerics(k.Checker.pkg, known)
	}
}

// standAlone reports whether the cell's functions can be checked with its declarations: none is
// generic or a method of an earlier cell's type, and none uses a name that the statements define.
func (k *Attempt) standAlone(known names) bool {
	c := k.Cell
	defined := map[string]bool{}
	for _, s := range c.Stmts {
		for _, id := range definedNames(s) {
			defined[id.Name] = true
		}
	}
	for _, d := range c.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if f.Type.TypeParams != nil || f.Recv != nil && (ReceiverName(f) == nil || HasTypeParams(f) || k.isForeign(f, known)) {
			return false
		}
		uses := false
		if len(defined) > 0 {
			ast.Inspect(f, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				uses = uses || ok && defined[id.Name]
				return !uses
			})
		}
		if uses {
			return false
		}
	}
	return true
}

// statements checks the cell's statements and finds the variables that they define and the value of
// the last one.
func (k *Attempt) statements(known names) {
	c := k.Cell
	var last *ast.ExprStmt
	if s, ok := c.Stmts[len(c.Stmts)-1].(*ast.ExprStmt); ok {
		last, k.value = s, s.Pos()
	}
	before := len(k.errs)
	k.stage(known, []ast.Decl{&ast.FuncDecl{
		Name: &ast.Ident{NamePos: c.Body.Name.Pos(), Name: "cell#"}, Type: c.Body.Type, Body: c.Body.Body,
	}})
	k.value = token.NoPos
	if len(k.errs) > before && !k.tolerant {
		return
	}
	for _, s := range c.Stmts {
		for _, name := range definedNames(s) {
			if v, ok := c.Info.Defs[name].(*types.Var); ok && name.Name != "_" {
				c.Vars = append(c.Vars, v)
			}
		}
	}
	for _, e := range c.List {
		c.Values = append(c.Values, types.Default(c.Info.TypeOf(e)))
	}
	if last == nil {
		return
	}
	tv := c.Info.Types[last.X]
	switch {
	case tv.IsVoid(), c.prints(last.X):
		return
	case !tv.IsValue() && !tv.IsNil():
		return
	}
	c.Value = last.X
	if tuple, ok := tv.Type.(*types.Tuple); ok {
		for v := range tuple.Variables() {
			c.Values = append(c.Values, v.Type())
		}
		return
	}
	c.Values = []types.Type{types.Default(tv.Type)}
}

// prints reports whether an expression is a call of a function of fmt that prints, or of display
// that shows something. The results of such calls are not shown.
func (c *Cell) prints(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	var name *ast.Ident
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name = fun.Sel
	}
	f, ok := c.Info.Uses[name].(*types.Func)
	if !ok || f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "fmt":
		return strings.Contains(strings.ToLower(f.Name()), "print") && f.Signature().Results().Len() == 2
	case DisplayPath, displayDot:
		r := f.Signature().Results()
		return r.Len() == 1 && types.Identical(r.At(0).Type(), types.Universe.Lookup("error").Type())
	}
	return false
}

// stage checks declarations in a scope with the names in known. Their objects are visible until the
// next stage.
func (k *Attempt) stage(known names, decls []ast.Decl) {
	pkg := k.Checker.pkg
	k.Checker.show(known.own, decls)
	if len(decls) == 0 {
		return
	}
	file := &ast.File{Package: k.Cell.Body.Pos(), Name: &ast.Ident{NamePos: k.Cell.Body.Pos(), Name: PackageName}}
	for name, path := range k.packages {
		if known.get(name) == nil && !declares(decls, name) {
			addImport(file, name, path)
		}
	}
	file.Decls = append(file.Decls, decls...)
	conf := types.Config{Importer: k.Checker.pkgs, Error: k.report, GoVersion: goVersion, DisableUnusedImportCheck: true}
	defer parenthesize(decls, known)()
	if err := checkFile(&conf, k.Checker.fset, pkg, k.Cell.Info, file); err != nil { // other errors went to k.report
		k.errorAt(decls[0].Pos(), err.Error())
	}
}

// Imports returns the import paths of packages that the cell may use, by the name that the cell
// uses.
func (k *Attempt) Imports() map[string]string {
	imports := maps.Clone(k.Checker.scope.imports)
	maps.Copy(imports, k.Cell.Imports)
	return imports
}

// report receives the errors of go/types.
func (k *Attempt) report(err error) {
	e, ok := err.(types.Error)
	if !ok {
		k.errs = append(k.errs, diagnostic{1, 1, err.Error()})
		return
	}
	if strings.HasPrefix(e.Msg, "\t") || e.Soft && k.permits(e) {
		return
	}
	if e.Pos == k.value && strings.HasSuffix(e.Msg, "is not used") {
		return // its value is shown
	}
	k.errorAt(e.Pos, e.Msg)
}

// permits reports whether an error is permitted at a prompt: variables and labels may be unused, and
// at the top level x := may define x again.
func (k *Attempt) permits(e types.Error) bool {
	if strings.Contains(e.Msg, "declared and not used") {
		return true
	}
	return e.Msg == "no new variables on left side of :=" && slices.ContainsFunc(k.Cell.Stmts, func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		return ok && a.TokPos == e.Pos
	})
}

func (k *Attempt) errorAt(pos token.Pos, msg string) {
	line, column, ok := k.Cell.Position(pos)
	if !ok {
		line, column = 1, 1
	}
	d := diagnostic{line, column, k.Checker.AsCalled(k.Cell.withPlaces(msg), k.Imports())}
	k.errs = append(k.errs, d)
	k.at[d] = pos
}

// importSpec finds the package of an import declaration and its name in the cell.
func (k *Attempt) importSpec(spec *ast.ImportSpec) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		k.errorAt(spec.Pos(), "invalid import path "+spec.Path.Value)
		return
	}
	pkg, err := k.Checker.pkgs.Import(path)
	var inside *sourceError
	switch {
	case errors.As(err, &inside):
		k.source = cmp.Or(k.source, inside.err)
		return
	case err != nil:
		k.errorAt(spec.Path.Pos(), err.Error())
		return
	}
	name := pkg.Name()
	if spec.Name != nil {
		name = spec.Name.Name
	}
	switch name {
	case "_":
	case ".":
		k.Cell.Dots = append(k.Cell.Dots, path)
	default:
		k.Cell.Imports[name] = path
	}
}

// isForeign reports whether f is a method of an earlier cell's type.
func (k *Attempt) isForeign(f *ast.FuncDecl, known names) bool {
	name := ReceiverName(f)
	if name == nil {
		return false
	}
	_, ok := known.get(name.Name).(*types.TypeName)
	return ok
}

// addMethod adds a method to an earlier cell's type.
func (k *Attempt) addMethod(f *ast.FuncDecl, known names) {
	name := ReceiverName(f)
	base, ok := types.Unalias(known.get(name.Name).Type()).(*types.Named)
	if !ok || base.Obj().Pkg() == nil || base.Obj().Pkg().Path() != PackageName {
		k.errorAt(name.Pos(), "cannot define new methods on non-local type "+name.Name)
		return
	}
	sig := known.get(bodyName(f)).Type().(*types.Signature)
	method := methodSignature(sig)
	fn := types.NewFunc(f.Name.Pos(), base.Obj().Pkg(), f.Name.Name, method)
	old := methodNamed(base, f.Name.Name)
	if old != nil && (!types.Identical(old.Signature(), method) ||
		IsPointer(old.Signature().Recv().Type()) != IsPointer(method.Recv().Type())) {
		k.errorAt(f.Name.Pos(), fmt.Sprintf("method %s.%s was defined as %s; define the type again to change that",
			name.Name, f.Name.Name, TypeName(old.Signature())))
		return
	}
	k.Cell.Info.Defs[f.Name] = fn
	k.undo = append(k.undo, replaceMethod(base, fn))
	k.Cell.AddedMethods = append(k.Cell.AddedMethods, AddedMethod{base, fn, old != nil})
}

// Innermost returns the smallest scope of the cell that contains pos, or the package's scope if
// there is none.
func (k *Attempt) Innermost(pos token.Pos) *types.Scope {
	inner := k.Checker.pkg.Scope()
	smallest := token.Pos(0)
	for n, scope := range k.Cell.Info.Scopes {
		if _, file := n.(*ast.File); file || scope.Pos() > pos || pos > scope.End() {
			continue
		}
		if size := scope.End() - scope.Pos(); smallest == 0 || size < smallest {
			inner, smallest = scope, size
		}
	}
	return inner
}
