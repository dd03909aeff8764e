package help

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// offer lists the candidates at the end of path.
func (k *suggester) offer(path []ast.Node) []session.Candidate {
	cursor := path[len(path)-1].(*ast.Ident)
	var parent, grand ast.Node
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	if len(path) > 2 {
		grand = path[len(path)-3]
	}
	switch n := parent.(type) {
	case *ast.SelectorExpr:
		if n.Sel == cursor {
			return k.selectable(n.X)
		}
	case *ast.BranchStmt:
		return labelsAround(path)
	case *ast.KeyValueExpr:
		if lit, ok := grand.(*ast.CompositeLit); ok && n.Key == cursor {
			return append(k.keys(lit), k.names(cursor.Pos())...)
		}
	case *ast.CompositeLit:
		if slices.Contains(n.Elts, ast.Expr(cursor)) {
			return append(k.keys(n), k.names(cursor.Pos())...)
		}
	case *ast.FuncDecl:
		if n.Name == cursor {
			return nil
		}
	}
	return k.names(cursor.Pos())
}

// selectable lists the candidates after an operand and a dot.
func (k *suggester) selectable(operand ast.Expr) []session.Candidate {
	if id, ok := operand.(*ast.Ident); ok {
		obj := k.c.Info.Uses[id]
		if pkg, ok := obj.(*types.PkgName); ok {
			return members(pkg.Imported())
		}
		if obj == nil && k.c.Info.Defs[id] == nil {
			var list []session.Candidate
			for _, path := range k.checker.Packages().PathsOf(id.Name) {
				if pkg, err := k.checker.Packages().Import(path); err == nil {
					list = append(list, members(pkg)...)
				}
			}
			return list
		}
	}
	return membersOf(k.checker.Package(), k.c.Info.Types[operand])
}

// members lists the exported names of a package.
func members(pkg *types.Package) []session.Candidate {
	var list []session.Candidate
	for _, name := range exportedNames(pkg) {
		list = append(list, candidateOf(pkg.Scope().Lookup(name)))
	}
	return list
}

func exportedNames(pkg *types.Package) []string {
	return slices.DeleteFunc(pkg.Scope().Names(), func(n string) bool { return !token.IsExported(n) })
}

// candidateOf describes an object.
func candidateOf(obj types.Object) session.Candidate {
	c := session.Candidate{Name: obj.Name()}
	switch obj := obj.(type) {
	case *types.Var:
		c.Kind, c.Type = "var", check.TypeName(obj.Type())
		if obj.IsField() {
			c.Kind = "field"
		}
	case *types.Const:
		c.Kind, c.Type = "const", check.TypeName(obj.Type())
	case *types.Func:
		c.Kind, c.Type = "func", check.TypeName(obj.Type())
		if obj.Signature().Recv() != nil {
			c.Kind = "method"
		}
	case *types.TypeName:
		c.Kind = "type"
		if _, named := obj.Type().(*types.Named); named {
			c.Type = check.TypeName(obj.Type().Underlying())
		}
	case *types.PkgName:
		c.Kind, c.Type = "package", obj.Imported().Path()
	case *types.Builtin:
		c.Kind = "func"
	default:
		c.Kind = "const"
	}
	return c
}

// names lists the names that are visible at pos.
func (k *suggester) names(pos token.Pos) []session.Candidate {
	var list []session.Candidate
	for scope := k.attempt.Innermost(pos); scope != nil; scope = scope.Parent() {
		global := scope == types.Universe || scope.Parent() == types.Universe
		for _, name := range scope.Names() {
			if in, obj := scope.LookupParent(name, pos); in == scope {
				list = append(list, candidateOf(obj))
			} else if global {
				list = append(list, candidateOf(scope.Lookup(name)))
			}
		}
	}
	imports := maps.Clone(k.checker.Imports())
	maps.Copy(imports, k.c.Imports)
	for name, path := range imports {
		list = append(list, session.Candidate{Name: name, Kind: "package", Type: path})
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		list = append(list, session.Candidate{Name: t.String(), Kind: "keyword"})
	}
	for path, name := range k.checker.Packages().Importable() {
		list = append(list, session.Candidate{Name: name, Kind: kindImport, Type: path})
	}
	return list
}

// labelsAround lists the labels around the end of path.
func labelsAround(path []ast.Node) []session.Candidate {
	var list []session.Candidate
	for _, n := range path {
		if l, ok := n.(*ast.LabeledStmt); ok {
			list = append(list, session.Candidate{Name: l.Label.Name, Kind: "label"})
		}
	}
	return list
}

// keys lists the fields that a struct literal does not set yet.
func (k *suggester) keys(lit *ast.CompositeLit) []session.Candidate {
	t := k.c.Info.TypeOf(lit)
	if t == nil {
		return nil
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				set[id.Name] = true
			}
		}
	}
	return slices.DeleteFunc(literalFields(k.checker.Package(), t), func(c session.Candidate) bool { return set[c.Name] })
}

// literalFields lists the fields that can be keys in a literal of type t.
func literalFields(own *types.Package, t types.Type) []session.Candidate {
	if p, ok := t.Underlying().(*types.Pointer); ok { // the elements of a []*T
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var list []session.Candidate
	for f := range s.Fields() {
		if reachable(own, f) {
			list = append(list, candidateOf(f))
		}
	}
	return list
}

// reachable reports whether cells can name a field or method.
func reachable(own *types.Package, obj types.Object) bool {
	return obj.Name() != "_" && (obj.Exported() || obj.Pkg() == own)
}

// membersOf lists the fields and methods of a value, or the methods of a type.
func membersOf(own *types.Package, tv types.TypeAndValue) []session.Candidate {
	if tv.Type == nil {
		return nil
	}
	t := tv.Type
	if !tv.IsType() {
		t = addressableType(t)
	}
	var list []session.Candidate
	for m := range types.NewMethodSet(t).Methods() {
		if reachable(own, m.Obj()) {
			list = append(list, candidateOf(m.Obj()))
		}
	}
	if tv.IsType() {
		return list
	}
	return append(list, fields(own, tv.Type, 0)...)
}

// addressableType returns the pointer type to t, or t itself if it is a pointer or an interface: a
// variable also has the methods of its pointer type.
func addressableType(t types.Type) types.Type {
	if _, ok := t.Underlying().(*types.Pointer); ok || types.IsInterface(t) {
		return t
	}
	return types.NewPointer(t)
}

// fields lists the fields of a struct type, or of the struct type that a pointer type points to,
// including promoted ones.
func fields(own *types.Package, t types.Type, depth int) []session.Candidate {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth > 4 {
		return nil
	}
	var list []session.Candidate
	for f := range s.Fields() {
		if reachable(own, f) {
			list = append(list, candidateOf(f))
		}
	}
	for f := range s.Fields() {
		if f.Embedded() {
			list = append(list, fields(own, f.Type(), depth+1)...)
		}
	}
	return list
}

// kindImport is the kind of a package that is not imported yet; it is offered if nothing else
// matches.
const kindImport = "import"
