package check

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// A cell that begins with variable declarations begins as a package does: they are initialised in
// the order of their dependencies, and then its init functions run, before the other statements.

// arrange puts the variable declarations with which a cell begins in the order of initialisation,
// and its init functions after them.
func (k *Checker) arrange(p *Syntax) {
	vars := 0
	for vars < len(p.Stmts) && isVarDecl(p.Stmts[vars]) {
		vars++
	}
	list := k.ordered(p, p.Stmts[:vars])
	p.Decls = slices.DeleteFunc(p.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !isInit(f) {
			return false
		}
		lit := &ast.FuncLit{Type: f.Type, Body: f.Body}
		list = append(list, &ast.ExprStmt{X: &ast.CallExpr{Fun: lit, Lparen: f.Body.Rbrace, Rparen: f.Body.Rbrace}})
		return true
	})
	p.Stmts = append(list, p.Stmts[vars:]...)
	p.Body.Body.List = p.Stmts
}

func isVarDecl(s ast.Stmt) bool {
	d, ok := s.(*ast.DeclStmt)
	if !ok {
		return false
	}
	g, ok := d.Decl.(*ast.GenDecl)
	return ok && g.Tok == token.VAR
}

func isInit(f *ast.FuncDecl) bool {
	return f.Recv == nil && f.Name.Name == "init" && f.Body != nil && f.Type.TypeParams == nil &&
		f.Type.Params.NumFields() == 0 && f.Type.Results.NumFields() == 0
}

// ordered returns variable declarations, one variable specification in each, in the order of
// initialisation; as they stand if there is none.
func (k *Checker) ordered(p *Syntax, decls []ast.Stmt) []ast.Stmt {
	var specs []*ast.ValueSpec
	var single []ast.Stmt
	declared := map[string]int{}
	for _, s := range decls {
		g := s.(*ast.DeclStmt).Decl.(*ast.GenDecl)
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for _, id := range v.Names {
				declared[id.Name] = len(specs)
			}
			specs = append(specs, v)
			single = append(single, &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: v.Pos(), Tok: token.VAR, Specs: []ast.Spec{v}}})
		}
	}
	if len(specs) < 2 {
		return decls[:len(decls):len(decls)]
	}
	delete(declared, "_")
	uses := usesOf(p.Decls)
	var out []ast.Stmt
	done := map[int]bool{}
	for len(out) < len(specs) {
		next := -1
		for i, spec := range specs {
			if !done[i] && !k.waits(i, spec, declared, uses, done) {
				next = i
				break
			}
		}
		if next < 0 {
			return decls[:len(decls):len(decls)]
		}
		done[next] = true
		out = append(out, single[next])
	}
	return out
}

// waits reports whether specification i uses, itself or by functions, a variable of another that is
// not done. Where it stands, the name of a variable of the session means that variable until
// another is declared.
func (k *Checker) waits(i int, spec *ast.ValueSpec, declared map[string]int, uses map[string]map[string]bool, done map[int]bool) bool {
	direct := map[string]bool{}
	for _, e := range spec.Values {
		maps.Copy(direct, namesIn(e))
	}
	pending := func(name string) bool {
		j, ok := declared[name]
		return ok && j != i && !done[j]
	}
	seen := map[string]bool{}
	var reaches func(names map[string]bool) bool
	reaches = func(names map[string]bool) bool {
		for name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			if called, ok := uses[name]; ok {
				for n := range called {
					if pending(n) {
						return true
					}
				}
				if reaches(called) {
					return true
				}
			}
		}
		return false
	}
	for name := range direct {
		if pending(name) && k.scope.objects[name] == nil {
			return true
		}
	}
	return reaches(direct)
}

// usesOf returns the names that each function uses, and for each name of a method, after a dot,
// those that methods of that name use.
func usesOf(decls []ast.Decl) map[string]map[string]bool {
	uses := map[string]map[string]bool{}
	for _, d := range decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			name = "." + name
		}
		if uses[name] == nil {
			uses[name] = map[string]bool{}
		}
		used := namesIn(f.Body)
		for _, name := range localNames(f) {
			delete(used, name)
		}
		maps.Copy(uses[name], used)
	}
	return uses
}

// localNames returns the names of a function's parameters, and the names that are declared in it.
func localNames(f *ast.FuncDecl) (names []string) {
	add := func(list ...*ast.Ident) {
		for _, id := range list {
			names = append(names, id.Name)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			add(n.Names...)
		case ast.Spec:
			add(specNames(n)...)
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if id, ok := e.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case ast.Stmt:
			add(definedNames(n)...)
		}
		return true
	})
	return names
}

// namesIn returns the names that n uses; a dot precedes those that are selected.
func namesIn(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			maps.Copy(names, namesIn(n.X))
			names["."+n.Sel.Name] = true
			return false
		case *ast.Ident:
			names[n.Name] = true
		}
		return true
	})
	return names
}
