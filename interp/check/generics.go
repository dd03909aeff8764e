package check

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
)

// Generic functions and types never reach yaegi. Go/types checks their declarations, which are kept
// as syntax together with the objects of the names in them. When lowered code uses one with a list
// of type arguments, it gets an instance: a copy of the declaration in which the type parameters
// are names of the type arguments. The copy is checked again and lowered like any other function or
// type. The standard library's generic packages are available as source (package generics) and are
// treated in the same way.

// keepGenerics records the generic declarations of a cell that checks. Pkg is the package that they
// belong to, and known the names at its top level.
func (c *Cell) keepGenerics(pkg *types.Package, known names) {
	c.Generics = map[types.Object]*Generic{}
	add := func(name *ast.Ident) *Generic {
		obj := c.Objects[name.Name]
		if obj == nil {
			return &Generic{}
		}
		g := c.Generics[obj]
		if g == nil {
			g = &Generic{Package: pkg, Env: map[string]types.Object{}, Imports: map[string]string{},
				consts: map[*ast.CallExpr]bool{}, Text: c.Text}
			c.Generics[obj] = g
		}
		return g
	}
	for _, d := range c.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv == nil && d.Type.TypeParams != nil:
				g := add(d.Name)
				g.Func, g.Params = d, fieldNames(d.Type.TypeParams)
				c.environment(g, d, known)
			case d.Recv != nil && HasTypeParams(d):
				g := add(ReceiverName(d))
				g.Methods = append(g.Methods, d)
				c.environment(g, d, known)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.TypeParams != nil {
					add(s.Name)
				}
			}
		}
	}
}

// environment records in g the objects of names in a declaration that are declared outside of it.
func (c *Cell) environment(g *Generic, d ast.Node, known names) {
	info := c.Info
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			switch obj := info.Uses[n].(type) {
			case nil:
			case *types.PkgName:
				g.Imports[n.Name] = obj.Imported().Path()
			default:
				if known.get(n.Name) == obj {
					g.Env[n.Name] = obj
				}
			}
		case *ast.CallExpr:
			if tv := info.Types[n.Fun]; tv.IsType() && len(n.Args) == 1 && info.Types[n.Args[0]].Value != nil {
				_, toParam := types.Unalias(tv.Type).(*types.TypeParam)
				g.consts[n] = toParam
			}
		}
		return true
	})
}

func fieldNames(f *ast.FieldList) []string {
	var names []string
	if f == nil {
		return nil
	}
	for _, field := range f.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

// receiverParams returns a generic type's type parameters as named in a method's receiver.
func receiverParams(f *ast.FuncDecl) []string {
	var names []string
	for _, e := range receiverList(f) {
		name := "_"
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			name = id.Name
		}
		names = append(names, name)
	}
	return names
}

// nameReceiverParams gives blank type parameters of a receiver names that no source can spell.
func nameReceiverParams(f *ast.FuncDecl) {
	for i, e := range receiverList(f) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && id.Name == "_" {
			id.Name = blankParam(i)
		}
	}
}

// blankParam returns the name for type parameter i if it is blank.
func blankParam(i int) string { return "_#" + strconv.Itoa(i) }

// receiverList returns the type parameters of the receiver of a method.
func receiverList(f *ast.FuncDecl) []ast.Expr {
	t := ast.Unparen(f.Recv.List[0].Type)
	if s, ok := t.(*ast.StarExpr); ok {
		t = ast.Unparen(s.X)
	}
	switch t := t.(type) {
	case *ast.IndexExpr:
		return []ast.Expr{t.Index}
	case *ast.IndexListExpr:
		return t.Indices
	}
	return nil
}

// genericType returns the declaration of a generic type among decls.
func genericType(decls []ast.Decl, name *ast.Ident) *ast.TypeSpec {
	for _, d := range decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.TypeParams != nil && name != nil && s.Name.Name == name.Name {
					return s
				}
			}
		}
	}
	return nil
}

// genericBody returns the method f of the generic type t as a generic function (see body).
func genericBody(f *ast.FuncDecl, t *ast.TypeSpec) *ast.FuncDecl {
	own, declared := receiverParams(f), fieldNames(t.TypeParams)
	if len(own) != len(declared) {
		return f
	}
	// names of type parameters in the method, by their names in the type
	called := map[string]string{}
	for i, name := range own {
		if name == "_" {
			name = blankParam(i)
		}
		called[declared[i]] = name
	}
	g := body(f)
	typ := *g.Type
	typ.TypeParams = cloneSyntax(t.TypeParams, func(n ast.Node) ast.Node {
		if id, ok := n.(*ast.Ident); ok && called[id.Name] != "" {
			return &ast.Ident{NamePos: id.Pos(), Name: called[id.Name]}
		}
		return nil
	})
	pos := f.Recv.Pos()
	recv := *typ.Params.List[0]
	list := &ast.IndexListExpr{X: ReceiverName(f), Lbrack: pos, Rbrack: pos}
	for _, name := range declared {
		list.Indices = append(list.Indices, &ast.Ident{NamePos: pos, Name: called[name]})
	}
	_, byPointer := ast.Unparen(recv.Type).(*ast.StarExpr)
	if recv.Type = list; byPointer {
		recv.Type = &ast.StarExpr{Star: pos, X: list}
	}
	params := *typ.Params
	params.List = slices.Concat([]*ast.Field{&recv}, params.List[1:])
	typ.Params = &params
	g.Type = &typ
	return g
}
