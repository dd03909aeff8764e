package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Instantiate checks f, a copy of a declaration of g, with the type parameters bound to types. It
// returns the function or method that it declares, and the names that stand for the types in its
// syntax; info gets the results of the check.
func (k *Checker) Instantiate(info *types.Info, g *Generic, f *ast.FuncDecl, args []types.Type) (fn *types.Func,
	params []types.Object, err error) {
	names := g.Params
	if f.Recv != nil {
		nameReceiverParams(f)
		names = receiverParams(f)
	}
	defer setScope(g.Package)()
	scope := g.Package.Scope()
	file := &ast.File{Package: f.Pos(), Name: &ast.Ident{NamePos: f.Pos(), Name: g.Package.Name()}}
	for i, name := range names {
		t := types.NewTypeName(token.NoPos, g.Package, name, args[i])
		params = append(params, t)
		scope.Insert(t)
	}
	for name, obj := range g.Env {
		if scope.Lookup(name) == nil {
			scope.Insert(obj)
		}
	}
	for name, path := range g.Imports {
		if scope.Lookup(name) == nil {
			addImport(file, name, path)
		}
	}
	function := body(f)
	file.Decls = append(file.Decls, function)
	conf := types.Config{Importer: k.pkgs, GoVersion: goVersion, Error: func(e error) {
		// The same type twice in a type switch is no error of a generic function, nor is a type
		// that the operand can never hold.
		if e, ok := e.(types.Error); ok && !e.Soft && !strings.HasPrefix(e.Msg, "duplicate case") &&
			!strings.HasPrefix(e.Msg, "impossible type ") && !strings.HasPrefix(e.Msg, "\t") && err == nil {
			err = e
		}
	}}
	if fault := checkFile(&conf, k.fset, g.Package, info, file); fault != nil {
		return nil, nil, fault
	}
	if err != nil {
		return nil, nil, err
	}
	fn = info.Defs[function.Name].(*types.Func)
	if f.Recv != nil {
		fn = types.NewFunc(f.Name.Pos(), g.Package, f.Name.Name, methodSignature(fn.Signature()))
	}
	info.Defs[f.Name] = fn
	return fn, params, nil
}

// addImport adds an import to a file.
func addImport(file *ast.File, name, path string) {
	spec := &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}}
	file.Decls = append(file.Decls, &ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}})
	file.Imports = append(file.Imports, spec)
}

// methodSignature is the signature of a method whose receiver is the first parameter of a function: see body.
func methodSignature(sig *types.Signature) *types.Signature {
	params := slices.Collect(sig.Params().Variables())
	return types.NewSignatureType(params[0], nil, nil, types.NewTuple(params[1:]...), sig.Results(), sig.Variadic())
}

// Copy copies a declaration. A conversion of a constant to a type parameter is no constant, but it
// would be one to the type argument: T(1) becomes [1]T{1}[0].
func (g *Generic) Copy(f *ast.FuncDecl) *ast.FuncDecl {
	var replace func(n ast.Node) ast.Node
	replace = func(n ast.Node) ast.Node {
		call, ok := n.(*ast.CallExpr)
		if !ok || !g.consts[call] {
			return nil
		}
		pos := call.Pos()
		zero := func(v string) ast.Expr { return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: v} }
		array := &ast.ArrayType{Lbrack: pos, Len: zero("1"), Elt: cloneSyntax(ast.Unparen(call.Fun), replace)}
		return &ast.IndexExpr{
			X:      &ast.CompositeLit{Type: array, Lbrace: pos, Elts: []ast.Expr{cloneSyntax(call.Args[0], replace)}, Rbrace: pos},
			Lbrack: pos, Index: zero("0"), Rbrack: pos,
		}
	}
	return cloneSyntax(f, replace)
}
