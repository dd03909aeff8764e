package check

import (
	"go/ast"
	"go/token"
	"slices"
)

// specNames returns the names that a type or constant declaration declares.
func specNames(s ast.Spec) []*ast.Ident {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		return s.Names
	}
	return nil
}

// declares reports whether one of decls declares name.
func declares(decls []ast.Decl, name string) bool {
	return slices.ContainsFunc(decls, func(d ast.Decl) bool {
		switch d := d.(type) {
		case *ast.FuncDecl:
			return d.Recv == nil && d.Name.Name == name
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if slices.ContainsFunc(specNames(s), func(id *ast.Ident) bool { return id.Name == name }) {
					return true
				}
			}
		}
		return false
	})
}

// definedNames returns the names that a statement defines in its block.
func definedNames(s ast.Stmt) []*ast.Ident {
	var names []*ast.Ident
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, e := range s.Lhs {
				if id, ok := e.(*ast.Ident); ok {
					names = append(names, id)
				}
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			names = append(names, specNames(spec)...)
		}
	case *ast.LabeledStmt:
		return definedNames(s.Stmt)
	}
	return names
}

// stub returns a function without its body. The loop in it is a terminating statement, so that no
// return is missing.
func stub(f *ast.FuncDecl) *ast.FuncDecl {
	g := *f
	at := f.Body.Lbrace
	g.Body = &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{&ast.ForStmt{For: at, Body: &ast.BlockStmt{Lbrace: at}}}, Rbrace: f.Body.Rbrace}
	return &g
}

// body returns a function with its body under another name; the receiver of a method becomes the
// first parameter.
func body(f *ast.FuncDecl) *ast.FuncDecl {
	g := *f
	g.Name = &ast.Ident{NamePos: f.Name.Pos(), Name: bodyName(f)}
	if f.Recv == nil {
		return &g
	}
	typ := *f.Type
	params := *f.Type.Params
	params.List = nil
	for _, field := range slices.Concat(f.Recv.List, f.Type.Params.List) {
		if len(field.Names) == 0 {
			named := *field
			named.Names = []*ast.Ident{{NamePos: field.Pos(), Name: "_"}}
			field = &named
		}
		params.List = append(params.List, field)
	}
	typ.Params = &params
	g.Recv, g.Type = nil, &typ
	return &g
}

// bodyName returns a name that is unique in a cell, because functions with the same name are
// reported elsewhere.
func bodyName(f *ast.FuncDecl) string {
	if name := ReceiverName(f); name != nil {
		return name.Name + "." + f.Name.Name + "#"
	}
	return f.Name.Name + "#"
}

// ReceiverName returns the identifier of a method's base type, nil for functions.
func ReceiverName(f *ast.FuncDecl) *ast.Ident {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return nil
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x
		default:
			return nil
		}
	}
}

// HasTypeParams reports whether f is a method of a generic type.
func HasTypeParams(f *ast.FuncDecl) bool {
	t := f.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	switch t.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}
