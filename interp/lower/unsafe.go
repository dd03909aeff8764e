package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Package unsafe. Sizeof, Alignof and Offsetof are constants, computed from Go's sizes. Yaegi's
// memory layout is Go's except for interfaces with methods that cells declare, so pointers to types
// without such interfaces can be converted. The other functions and the conversions become calls of
// helpers.

// unsafeBuiltin lowers a call of a function of package unsafe that is not constant.
func (l *lowerer) unsafeBuiltin(name string, e *ast.CallExpr) ast.Expr {
	pos := e.Pos()
	result := l.info.TypeOf(e)
	if len(e.Args) > 0 && l.isTuple(e.Args[0]) {
		l.refuse(pos, "unsafe."+name+" of a call with several results; assign these to variables")
	}
	number := func(i int) ast.Expr {
		return &ast.CallExpr{Fun: l.ident(pos, "int64"), Lparen: pos, Args: []ast.Expr{l.integer(e.Args[i])}, Rparen: pos}
	}
	argument := func(t types.Type) ast.Expr {
		if l.info.Types[e.Args[0]].IsNil() {
			return l.zeroValue(pos, t)
		}
		return l.convert(e.Args[0], t)
	}
	switch t := l.info.TypeOf(e.Args[0]); name {
	case "Add":
		return l.helper(pos, contract.UnsafeAdd, argument(types.Typ[types.UnsafePointer]), number(1))
	case "Slice":
		elem := result.Underlying().(*types.Slice).Elem()
		l.checkLayout(pos, elem)
		return l.viaHelper(pos, contract.UnsafeSlice, argument(types.NewPointer(elem)), types.NewPointer(elem), result, number(1))
	case "SliceData":
		l.checkLayout(pos, t.Underlying().(*types.Slice).Elem())
		return l.viaHelper(pos, contract.UnsafeSliceData, argument(t), t, result)
	case "String":
		return l.helper(pos, contract.UnsafeString, argument(types.NewPointer(types.Typ[types.Byte])), number(1))
	case "StringData":
		return l.helper(pos, contract.UnsafeStringData, l.conversion(types.Typ[types.String], argument(types.Typ[types.String])))
	}
	l.refuse(pos, "unsafe."+name+" that is not a constant here; declare the type of its operand")
	return nil
}

// unsafeConversion lowers a conversion to or from unsafe.Pointer. It returns nil for other conversions.
func (l *lowerer) unsafeConversion(e *ast.CallExpr, to types.Type) ast.Expr {
	from := l.info.TypeOf(e.Args[0])
	pos := e.Pos()
	pointer := types.Typ[types.UnsafePointer]
	switch toUnsafe, fromUnsafe := typed.IsUnsafe(to), typed.IsUnsafe(from); {
	case toUnsafe && fromUnsafe, !toUnsafe && !fromUnsafe:
		return nil
	case toUnsafe && l.info.Types[e.Args[0]].IsNil():
		return l.zeroValue(pos, to)
	case toUnsafe && check.IsPointer(from):
		l.checkLayout(pos, from.Underlying().(*types.Pointer).Elem())
		return l.viaHelper(pos, contract.UnsafePointer, l.expr(e.Args[0]), from, to)
	case toUnsafe:
		x := l.helper(pos, contract.UnsafeOfUintptr, l.conversion(types.Typ[types.Uintptr], l.expr(e.Args[0])))
		return l.passOne(pos, x, pointer, to)
	case check.IsPointer(to):
		l.checkLayout(pos, to.Underlying().(*types.Pointer).Elem())
		return l.viaHelper(pos, contract.UnsafePointer, l.expr(e.Args[0]), from, to)
	}
	x := l.helper(pos, contract.UnsafeUintptr, l.passOne(pos, l.expr(e.Args[0]), from, pointer))
	return l.conversion(to, x)
}
