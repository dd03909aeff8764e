package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// typeExpr writes a type as syntax for yaegi.
func (l *builder) typeExpr(t types.Type, pos token.Pos) ast.Expr {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return l.pkgMember(pos, "unsafe", "Pointer")
		}
		return l.ident(pos, t.Name())
	case *types.Alias:
		return l.typeExpr(types.Unalias(t), pos)
	case *types.Named:
		return l.namedType(t, pos)
	case *types.Pointer:
		return &ast.StarExpr{Star: pos, X: l.typeExpr(t.Elem(), pos)}
	case *types.Slice:
		return &ast.ArrayType{Lbrack: pos, Elt: l.typeExpr(t.Elem(), pos)}
	case *types.Array:
		l.refuseLarge(pos, t)
		n := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.FormatInt(t.Len(), 10)}
		return &ast.ArrayType{Lbrack: pos, Len: n, Elt: l.typeExpr(t.Elem(), pos)}
	case *types.Map:
		l.checkKey(pos, t.Key())
		return &ast.MapType{Map: pos, Key: l.typeExpr(t.Key(), pos), Value: l.typeExpr(t.Elem(), pos)}
	case *types.Chan:
		dir := map[types.ChanDir]ast.ChanDir{types.SendRecv: ast.SEND | ast.RECV, types.SendOnly: ast.SEND, types.RecvOnly: ast.RECV}
		return &ast.ChanType{Begin: pos, Dir: dir[t.Dir()], Value: l.typeExpr(t.Elem(), pos)}
	case *types.Signature:
		return l.signatureExpr(t, pos)
	case *types.Struct:
		return l.structExpr(t, pos)
	case *types.Interface:
		return l.interfaceExpr(t, pos)
	}
	panic(refusal{pos, fmt.Sprintf("a variable of type %s cannot be kept; give it a named type", t)})
}

func (l *builder) namedType(t *types.Named, pos token.Pos) ast.Expr {
	obj := t.Obj()
	if l.isRecursive(t) {
		return l.pkgMember(pos, contract.HiddenPath, l.recursiveSymbol(obj))
	}
	if name := l.ownType(t); name != "" {
		return l.ident(pos, name)
	}
	switch {
	case obj.Pkg() == nil: // error and comparable
		return l.ident(pos, obj.Name())
	case l.generic(obj) != nil:
		return l.typeExpr(t.Underlying(), pos)
	case l.checker.Packages().HasType(obj):
		return l.pkgMember(pos, obj.Pkg().Path(), obj.Name())
	}
	return l.hiddenType(t, pos)
}

// hiddenType names a compiled type that its package does not export, through a table of hidden
// symbols.
func (l *builder) hiddenType(t *types.Named, pos token.Pos) ast.Expr {
	r := l.checker.Packages().Compiled(t.Obj())
	if r == nil {
		l.refuse(pos, fmt.Sprintf("a variable of type %s cannot be kept", t))
	}
	return l.hiddenSymbol(pos, r.PkgPath()+"."+r.Name(), reflect.Zero(reflect.PointerTo(r)))
}

func (l *builder) signatureExpr(t *types.Signature, pos token.Pos) *ast.FuncType {
	f := &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}}
	for i := range t.Params().Len() {
		p := l.paramType(t, i, pos)
		f.Params.List = append(f.Params.List, &ast.Field{Type: p})
	}
	if t.Results().Len() > 0 {
		f.Results = &ast.FieldList{Opening: pos}
		for v := range t.Results().Variables() {
			f.Results.List = append(f.Results.List, &ast.Field{Type: l.typeExpr(v.Type(), pos)})
		}
	}
	return f
}

// paramType writes the type of parameter i, with ... if it is variadic.
func (l *builder) paramType(t *types.Signature, i int, pos token.Pos) ast.Expr {
	p := t.Params().At(i).Type()
	if t.Variadic() && i == t.Params().Len()-1 {
		if s, ok := p.(*types.Slice); ok {
			return &ast.Ellipsis{Ellipsis: pos, Elt: l.typeExpr(s.Elem(), pos)}
		}
	}
	return l.typeExpr(p, pos)
}

func (l *builder) structExpr(t *types.Struct, pos token.Pos) ast.Expr {
	s := &ast.StructType{Struct: pos, Fields: &ast.FieldList{Opening: pos}}
	for i := range t.NumFields() {
		v := t.Field(i)
		f := &ast.Field{Type: l.typeExpr(v.Type(), pos)}
		if !v.Embedded() || typed.IsAliasOfOther(v.Type()) {
			f.Names = []*ast.Ident{l.ident(pos, v.Name())}
		}
		if tag := t.Tag(i); tag != "" {
			f.Tag = &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(tag)}
		}
		s.Fields.List = append(s.Fields.List, f)
	}
	l.blankFields(s)
	return s
}

// embeddedName returns the identifier in the syntax of an embedded type.
func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.ParenExpr:
		return embeddedName(e.X)
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	}
	return e.(*ast.Ident)
}

// blankFields gives the blank fields of a struct different names, because yaegi identifies fields
// by name.
func (l *builder) blankFields(s *ast.StructType) {
	n := 0
	for _, f := range s.Fields.List {
		for i, id := range f.Names {
			if id.Name == "_" {
				n++
				f.Names[i] = l.ident(id.Pos(), contract.BlankField+strconv.Itoa(n))
			}
		}
	}
}

func (l *builder) interfaceExpr(t *types.Interface, pos token.Pos) ast.Expr {
	if t.NumMethods() == 0 && t.NumEmbeddeds() == 0 {
		return l.ident(pos, "any")
	}
	e := &ast.InterfaceType{Interface: pos, Methods: &ast.FieldList{Opening: pos}}
	for m := range t.Methods() {
		e.Methods.List = append(e.Methods.List, &ast.Field{
			Names: []*ast.Ident{l.ident(pos, m.Name())}, Type: l.signatureExpr(m.Signature(), pos),
		})
	}
	return e
}

// hiddenSymbol adds a value that is in no table to the cell's hidden symbols, and returns an
// expression for it.
func (l *builder) hiddenSymbol(pos token.Pos, name string, v reflect.Value) ast.Expr {
	key := contract.HiddenPath + "/hidden"
	if l.hidden[key] == nil {
		l.hidden[key] = map[string]reflect.Value{}
	}
	name = "T" + path2ident(name)
	l.hidden[key][name] = v
	return l.pkgMember(pos, contract.HiddenPath, name)
}

// zero returns the shortest expression that sets a variable of type t to zero.
func (l *builder) zero(pos token.Pos, t types.Type) ast.Expr {
	if b, ok := types.Unalias(t).(*types.Basic); ok {
		switch {
		case b.Info()&types.IsBoolean != 0:
			return l.ident(pos, "false")
		case b.Info()&types.IsString != 0:
			return l.quoted(pos, "")
		case b.Info()&types.IsNumeric != 0:
			return l.number(pos, 0)
		}
	}
	if t == types.Universe.Lookup("error").Type() {
		return l.ident(pos, "nil")
	}
	return l.zeroValue(pos, t)
}

// zeroValue returns *new(T), or nil for an interface type of cells, because yaegi's *new(T) would
// not be nil.
func (l *builder) zeroValue(pos token.Pos, t types.Type) ast.Expr {
	if l.isBoxed(t) {
		return l.ident(pos, "nil")
	}
	return &ast.StarExpr{Star: pos, X: &ast.CallExpr{Fun: l.ident(pos, "new"), Lparen: pos, Args: []ast.Expr{l.typeExpr(t, pos)},
		Rparen: pos}}
}

// varDecl declares a local temporary variable.
func (l *builder) varDecl(pos token.Pos, name string, t types.Type) ast.Stmt {
	return &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: pos, Tok: token.VAR, Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{l.ident(pos, name)}, Type: l.typeExpr(t, pos)},
	}}}
}

// conversion returns T(e) for a lowered expression e.
func (l *builder) conversion(t types.Type, e ast.Expr) ast.Expr {
	return &ast.CallExpr{Fun: l.typeExpr(t, e.Pos()), Lparen: e.Pos(), Args: []ast.Expr{e}, Rparen: e.End()}
}

// textKey returns the key by which the runtime finds Go's name for a type.
func (l *builder) textKey(t types.Type) string {
	key := "text of " + l.typeText(t)
	l.note(key, t)
	return key
}
