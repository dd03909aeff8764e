package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
)

// typeExpr writes a type as syntax for yaegi.
func (l *lowerer) typeExpr(t types.Type, pos token.Pos) ast.Expr {
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
	case *types.TypeParam:
		return l.ident(pos, t.Obj().Name())
	case *types.Pointer:
		return &ast.StarExpr{Star: pos, X: l.typeExpr(t.Elem(), pos)}
	case *types.Slice:
		return &ast.ArrayType{Lbrack: pos, Elt: l.typeExpr(t.Elem(), pos)}
	case *types.Array:
		n := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.FormatInt(t.Len(), 10)}
		return &ast.ArrayType{Lbrack: pos, Len: n, Elt: l.typeExpr(t.Elem(), pos)}
	case *types.Map:
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

func (l *lowerer) namedType(t *types.Named, pos token.Pos) ast.Expr {
	obj := t.Obj()
	var e ast.Expr
	switch {
	case obj.Pkg() == nil: // error, comparable
		return l.ident(pos, obj.Name())
	case obj.Pkg().Path() == cellPackage:
		e = l.ident(pos, l.name(obj))
	case l.in.pkgs.hasType(obj):
		e = l.pkgMember(pos, obj.Pkg().Path(), obj.Name())
	default:
		return l.hiddenType(t, pos)
	}
	if n := t.TypeArgs().Len(); n > 0 {
		var args []ast.Expr
		for a := range t.TypeArgs().Types() {
			args = append(args, l.typeExpr(a, pos))
		}
		if n == 1 {
			return &ast.IndexExpr{X: e, Lbrack: pos, Index: args[0], Rbrack: pos}
		}
		return &ast.IndexListExpr{X: e, Lbrack: pos, Indices: args, Rbrack: pos}
	}
	return e
}

// hiddenType names a compiled type that its package does not export, by a table of our own.
func (l *lowerer) hiddenType(t *types.Named, pos token.Pos) ast.Expr {
	r, ok := l.in.pkgs.named[t.Obj()]
	if !ok {
		l.refuse(pos, fmt.Sprintf("a variable of type %s cannot be kept", t))
	}
	name := "T" + path2ident(r.PkgPath()+"."+r.Name())
	key := hiddenPath + "/hidden"
	if l.hidden[key] == nil {
		l.hidden[key] = map[string]reflect.Value{}
	}
	l.hidden[key][name] = reflect.Zero(reflect.PointerTo(r))
	return l.pkgMember(pos, hiddenPath, name)
}

func (l *lowerer) signatureExpr(t *types.Signature, pos token.Pos) *ast.FuncType {
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

// paramType writes the type of parameter i, variadic if it is.
func (l *lowerer) paramType(t *types.Signature, i int, pos token.Pos) ast.Expr {
	p := t.Params().At(i).Type()
	if t.Variadic() && i == t.Params().Len()-1 {
		if s, ok := p.(*types.Slice); ok {
			return &ast.Ellipsis{Ellipsis: pos, Elt: l.typeExpr(s.Elem(), pos)}
		}
	}
	return l.typeExpr(p, pos)
}

func (l *lowerer) structExpr(t *types.Struct, pos token.Pos) ast.Expr {
	s := &ast.StructType{Struct: pos, Fields: &ast.FieldList{Opening: pos}}
	for i := range t.NumFields() {
		v := t.Field(i)
		f := &ast.Field{Type: l.typeExpr(v.Type(), pos)}
		if !v.Embedded() {
			f.Names = []*ast.Ident{l.ident(pos, v.Name())}
		}
		if tag := t.Tag(i); tag != "" {
			f.Tag = &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(tag)}
		}
		s.Fields.List = append(s.Fields.List, f)
	}
	return s
}

func (l *lowerer) interfaceExpr(t *types.Interface, pos token.Pos) ast.Expr {
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
