package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Once a cell of the session uses a function that reports stacks, functions of that cell and of
// later ones begin with contract.Enter, which gets their names in Go. Once a cell uses the code of
// a function value, function values begin with contract.Code, which gets the function's name and
// position.

// code returns the statement that begins a function value whose function has the given name and
// position. It returns none if no cell uses the code of function values.
func (l *marker) code(pos token.Pos, name string, at token.Pos) []ast.Stmt {
	if !l.program.codes || l.silent {
		return nil
	}
	return []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, contract.Code, l.quoted(pos, name), l.number(pos, int(at)))}}
}

// ofFunction marks a function literal as a value of the function fn; more is added to the
// function's name.
func (l *marker) ofFunction(lit *ast.FuncLit, fn *types.Func, more string) *ast.FuncLit {
	lit.Body.List = append(l.code(lit.Pos(), nameUsed(fn)+more, fn.Pos()), lit.Body.List...)
	return lit
}

// nameUsed returns the name of a function that a cell uses.
func nameUsed(fn *types.Func) string {
	sig := fn.Signature()
	generic, recv := sig.TypeParams() != nil, ""
	if sig.Recv() != nil {
		t := sig.Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if named, ok := types.Unalias(t).(*types.Named); ok {
			recv, generic = named.Obj().Name(), named.TypeArgs() != nil
		}
	}
	if generic {
		return nameOf(fn, recv, fn.Name(), "[...]")
	}
	return nameOf(fn, recv, fn.Name(), "")
}

// nameOf returns package runtime's name for a function. Recv is the name of its receiver's type,
// and args the text of that type's type arguments.
func nameOf(fn *types.Func, recv, name, args string) string {
	path, name := "go:builtin.", contract.PlainNames(name) // for the method of error
	if fn.Pkg() != nil {
		path = fn.Pkg().Path() + "."
	}
	if fn.Signature().Recv() == nil {
		return path + name + args
	}
	recv = contract.PlainNames(recv) + args
	if check.IsPointer(fn.Signature().Recv().Type()) {
		recv = "(*" + recv + ")"
	}
	return path + recv + "." + name
}

// nameDeclared returns the name of a declared function.
func (l *marker) nameDeclared(d *ast.FuncDecl, fn *types.Func) string {
	recv, args := "", ""
	if l.instancing != nil {
		args = "[...]"
	}
	if d.Recv != nil {
		recv = check.ReceiverName(d).Name
	} else if fn.Name() == "init" {
		args = "." + strconv.Itoa(l.inits)
		l.inits++
	}
	return nameOf(fn, recv, d.Name.Name, args)
}

// enter returns the statement that begins a function whose closing brace is at end. It returns none
// if no cell uses stacks.
func (l *marker) enter(pos token.Pos, f *function, end token.Pos) []ast.Stmt {
	if !l.tracesCalls() {
		return nil
	}
	return []ast.Stmt{l.enterAs(pos, f.name, end, f.top())}
}

// leave returns the statement that records the position at which a function makes its deferred
// calls. It returns none if no cell uses stacks.
func (l *marker) leave(at token.Pos) []ast.Stmt {
	if !l.tracesCalls() {
		return nil
	}
	return []ast.Stmt{&ast.ExprStmt{X: l.helper(at, contract.Leave, l.number(at, int(at)))}}
}
