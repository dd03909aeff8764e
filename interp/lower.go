package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/symmrepl/symmrepl/session"
)

// lowerer rewrites a checked cell for yaegi. Syntax is changed in place or replaced; positions stay those of the user's text.
type lowerer struct {
	in    *Interp
	c     *checked
	info  *types.Info
	names map[types.Object]string // what this cell's objects are called in yaegi
	// What functions that are defined again are called in their declaration; uses have the name of the first.
	declared     map[types.Object]string
	counters     map[types.Object]bool   // variables that are never negative
	renamed      map[types.Object]string // local variables that have another name in yaegi
	hoisted      map[types.Object]bool   // variables of the cell's top level
	places       map[*types.Var]*storage // where they are kept
	imports      map[string]bool         // packages that the lowered code uses, by path
	hidden       Exports                 // symbols for types that have no name in the tables
	types        map[*ast.TypeSpec]types.Object
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

// refusal is the panic by which lowering gives up on a construct.
type refusal struct {
	pos token.Pos
	msg string
}

// refuse gives up: what says which construct and what to do instead.
func (l *lowerer) refuse(pos token.Pos, what string) { panic(refusal{pos, what}) }

// lowered is a cell that is ready for yaegi.
type lowered struct {
	imports []string
	types   []ast.Spec
	funcs   []*ast.FuncDecl
	methods *ast.FuncDecl // makes methods known to compiled code; nil when there are none
	body    []ast.Stmt
	hidden  Exports
}

// name is the identifier of an object of the session or of this cell; local objects keep theirs.
func (l *lowerer) name(obj types.Object) string {
	if n, ok := l.names[obj]; ok {
		return n
	}
	if n, ok := l.renamed[obj]; ok {
		return n
	}
	if n, ok := l.in.scope.names[obj]; ok {
		return n
	}
	return obj.Name()
}

// storage returns where a variable of the session or of this cell's top level is kept, nil for all else.
func (l *lowerer) storage(obj types.Object) *storage {
	v, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	if s := l.places[v]; s != nil {
		return s
	}
	return l.in.scope.storage[l.in.scope.names[v]]
}

func (l *lowerer) ident(pos token.Pos, name string) *ast.Ident {
	return &ast.Ident{NamePos: pos, Name: name}
}

// temp makes a name for a local variable of our own.
func (l *lowerer) temp(what string) string {
	l.temps++
	return what + "#t" + strconv.Itoa(l.temps)
}

// pkgMember is a symbol of an imported package.
func (l *lowerer) pkgMember(pos token.Pos, path, name string) ast.Expr {
	l.imports[path] = true
	return &ast.SelectorExpr{X: l.ident(pos, importName(path)), Sel: l.ident(pos, name)}
}

// importName is what a package is called in lowered code, whatever cells call it.
func importName(path string) string { return "import#" + path2ident(path) }

func path2ident(path string) string {
	b := []byte(path)
	for i, ch := range b {
		if ch == '/' {
			b[i] = '|'
		}
	}
	return string(b)
}

// helper calls a function of the cell runtime.
func (l *lowerer) helper(pos token.Pos, name string, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: l.pkgMember(pos, runtimePath, name), Lparen: pos, Args: args, Rparen: pos}
}

func (l *lowerer) number(pos token.Pos, n int) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(n)}
}

func (l *lowerer) quoted(pos token.Pos, s string) ast.Expr {
	return &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(s)}
}

func (l *lowerer) address(e ast.Expr) ast.Expr {
	return &ast.UnaryExpr{OpPos: e.Pos(), Op: token.AND, X: e}
}

func assign(tok token.Token, lhs, rhs ast.Expr) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{lhs}, TokPos: lhs.Pos(), Tok: tok, Rhs: []ast.Expr{rhs}}
}

// cell lowers the whole cell.
func (l *lowerer) cell() (out *lowered, err *session.Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = l.c.errorAt(session.KindUnsupported, r.pos, r.msg)
		default:
			panic(r)
		}
	}()
	out = &lowered{hidden: l.hidden}
	for _, d := range l.c.decls {
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
	for _, d := range l.c.decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Type.TypeParams == nil && (f.Recv == nil || !hasTypeParams(f)) {
			out.funcs = append(out.funcs, l.funcDecl(f))
		}
	}
	out.body = l.topLevel()
	for _, v := range l.c.vars {
		l.typeExpr(v.Type(), v.Pos()) // notes the instances in it
	}
	l.lowerPending(out)
	for _, m := range l.c.added {
		l.registerAdded(m.fn)
	}
	l.registerImplementations()
	if l.registrations != nil {
		out.methods = l.registration()
	}
	out.funcs = append(out.funcs, l.declarations...)
	for path := range l.imports {
		out.imports = append(out.imports, path)
	}
	return out, nil
}

// typeSpec lowers a type declaration.
func (l *lowerer) typeSpec(s *ast.TypeSpec) *ast.TypeSpec {
	if obj := l.info.Defs[s.Name]; obj != nil {
		if !s.Assign.IsValid() && recursive(obj.Type(), obj.Type().Underlying()) {
			l.refuse(s.Name.Pos(), "the type "+s.Name.Name+" contains itself other than as a field of a struct; make it a struct with one field")
		}
		l.types[s] = obj
		s.Name = l.ident(s.Name.Pos(), l.name(obj))
	}
	if t, ok := types.Unalias(l.info.TypeOf(s.Type)).(*types.Named); ok && l.identity(t) != "" && !s.Assign.IsValid() && !types.IsInterface(t) {
		s.Type = l.typeExpr(t.Underlying(), s.Type.Pos()) // yaegi would give it the methods too
	} else {
		s.Type = l.expr(s.Type)
	}
	l.finishType(s, l.types[s])
	return s
}

// finishType gives a declared type, obj, what its values are told by.
func (l *lowerer) finishType(s *ast.TypeSpec, obj types.Object) {
	l.types[s] = obj
	if st, ok := s.Type.(*ast.StructType); ok && !s.Assign.IsValid() {
		if len(st.Fields.List) == 0 {
			empty := &ast.StructType{Struct: s.Pos(), Fields: &ast.FieldList{Opening: s.Pos()}}
			st.Fields.List = []*ast.Field{{Names: []*ast.Ident{l.ident(s.Pos(), "_")}, Type: empty}}
		}
		tagType(st.Fields.List[0], s.Name.Name)
	}
}

// typeHelpers are the methods of ours that a declared type gets.
func (l *lowerer) typeHelpers(s *ast.TypeSpec) []*ast.FuncDecl {
	out := l.promoted(s)
	if f := l.identityMethod(s); f != nil {
		out = append(out, f)
	}
	if obj := l.types[s]; obj != nil && !s.Assign.IsValid() {
		l.registerMethods(obj.Type(), nil)
	}
	return out
}

// recursive reports whether in refers to t, structs and interfaces in it not counted: yaegi has no such types.
func recursive(t, in types.Type) bool {
	switch u := in.(type) {
	case *types.Pointer:
		return u.Elem() == t || recursive(t, u.Elem())
	case *types.Slice:
		return u.Elem() == t || recursive(t, u.Elem())
	case *types.Array:
		return recursive(t, u.Elem())
	case *types.Chan:
		return u.Elem() == t || recursive(t, u.Elem())
	case *types.Map:
		return u.Elem() == t || recursive(t, u.Key()) || recursive(t, u.Elem())
	case *types.Signature:
		return recursive(t, u.Params()) || recursive(t, u.Results())
	case *types.Tuple:
		for v := range u.Variables() {
			if v.Type() == t || recursive(t, v.Type()) {
				return true
			}
		}
	}
	return false
}

// tagType writes the name of a struct's type into the tag of its first field: that makes its memory layout a type of its own, and tells its name wherever a
// value of it is found.
func tagType(f *ast.Field, name string) {
	tag := typeTag + ":" + strconv.Quote(name)
	if f.Tag != nil {
		if old, err := strconv.Unquote(f.Tag.Value); err == nil {
			tag = old + " " + tag
		}
	}
	f.Tag = &ast.BasicLit{ValuePos: f.Pos(), Kind: token.STRING, Value: strconv.Quote(tag)}
}

// identityMethod is a method that every type gets: yaegi keeps the identity of a value in an interface only if its type has methods.
func (l *lowerer) identityMethod(s *ast.TypeSpec) *ast.FuncDecl {
	obj := l.types[s]
	if obj == nil || s.Assign.IsValid() {
		return nil
	}
	switch obj.Type().Underlying().(type) {
	case *types.Interface, *types.Pointer:
		return nil
	}
	pos := s.Pos()
	recv := &ast.Field{Type: &ast.StarExpr{Star: pos, X: l.ident(pos, s.Name.Name)}}
	return &ast.FuncDecl{
		Recv: &ast.FieldList{Opening: pos, List: []*ast.Field{recv}},
		Name: l.ident(pos, identityName),
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}},
		Body: &ast.BlockStmt{Lbrace: pos, Rbrace: pos},
	}
}

const identityName = "identity#"

// topLevel lowers the cell's statements to the body of a function whose variables outlive it.
func (l *lowerer) topLevel() []ast.Stmt {
	stmts := l.c.stmts
	var value *ast.ExprStmt
	if l.c.list != nil {
		stmts = stmts[:len(stmts)-1]
	}
	if l.c.value != nil {
		value = stmts[len(stmts)-1].(*ast.ExprStmt)
		stmts = stmts[:len(stmts)-1]
	}
	l.renamePredeclared(l.c.body)
	l.fn = l.newFunction(nil, l.c.body.Body)
	out := l.stmts(stmts)
	if value != nil {
		out = append(out, l.show(value.X)...)
	}
	if l.c.list != nil {
		out = append(out, l.showList(l.c.list)...)
	}
	return l.finishFunction(l.c.body.Body.Pos(), out)
}

// show lowers the cell's last expression: its values go to the cell runtime as pointers, so that they arrive as they are stored.
func (l *lowerer) show(e ast.Expr) []ast.Stmt {
	pos := e.Pos()
	if len(l.c.values) == 1 && types.Identical(l.c.values[0], types.Typ[types.UntypedNil]) {
		return []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, "Show")}}
	}
	s := &ast.ExprStmt{X: e}
	out := append(l.callsFirst(s), l.boundsFirst(s)...)
	e = s.X
	out = append(out, l.mark(e)...)
	var lhs []ast.Expr
	for _, t := range l.c.values {
		v := l.temp("value")
		out = append(out, l.varDecl(pos, v, t))
		lhs = append(lhs, l.ident(pos, v))
	}
	set := &ast.AssignStmt{Lhs: lhs, TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{e}}
	out = append(out, l.received(set)...)
	l.protect(set)
	l.exprs(set.Rhs)
	return append(append(out, set), l.showVars(pos, lhs)...)
}

// showVars lowers the showing of the cell's values, which variables hold.
func (l *lowerer) showVars(pos token.Pos, vars []ast.Expr) []ast.Stmt {
	var args []ast.Expr
	for _, v := range vars {
		args = append(args, l.address(v))
	}
	out := []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, "Show", args...)}}
	for i, t := range l.c.values {
		if method := l.describing(t); method != "" {
			call := &ast.CallExpr{Fun: &ast.SelectorExpr{X: vars[i], Sel: l.ident(pos, method)}, Lparen: pos, Rparen: pos}
			text := l.closure(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{call}})
			text.Type.Results = &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.ident(pos, "string")}}}
			index := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(i)}
			out = append(out, &ast.ExprStmt{X: l.helper(pos, "Describe", index, text)})
		}
	}
	if slices.ContainsFunc(l.c.values, l.renders) {
		var values []ast.Expr
		for i, v := range vars {
			values = append(values, l.converted(v, l.c.values[i], types.NewInterfaceType(nil, nil)))
		}
		out = append(out, &ast.ExprStmt{X: l.helper(pos, "Render", values...)})
	}
	return out
}

// describing returns which method of a session's type tells how to print a value of it: Error, String or "".
func (l *lowerer) describing(t types.Type) string {
	if types.IsInterface(t) || l.identity(t) == "" {
		return ""
	}
	for _, name := range []string{"Error", "String"} {
		obj, _, _ := types.LookupFieldOrMethod(t, false, l.in.pkg, name)
		fn, ok := obj.(*types.Func)
		if !ok || fn.Signature().Params().Len() > 0 || fn.Signature().Results().Len() != 1 {
			continue
		}
		if types.Identical(fn.Signature().Results().At(0).Type(), types.Typ[types.String]) {
			return name
		}
	}
	return ""
}

// varDecl declares a local variable of ours.
func (l *lowerer) varDecl(pos token.Pos, name string, t types.Type) ast.Stmt {
	return &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: pos, Tok: token.VAR, Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{l.ident(pos, name)}, Type: l.typeExpr(t, pos)},
	}}}
}
