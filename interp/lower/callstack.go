package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run"
)

// Once a cell of the session asks for the stack of a goroutine, functions of it and of later cells begin with run.Enter, which is told what Go calls them.
// Once one asks for the code of a function value, function values begin with run.Code, which is told whose they are.

// stackFunctions tell of the stack.
var stackFunctions = map[string]bool{
	"runtime.Caller": true, "runtime.Callers": true, "runtime.CallersFrames": true, "runtime.FuncForPC": true, "runtime.Stack": true,
	"runtime/debug.Stack": true, "runtime/debug.PrintStack": true,
}

// codePointer is the method that tells the code of a function value.
const codePointer = "(reflect.Value).Pointer"

// asks reports whether a cell uses functions that tell of the stack, and of the code of function values.
func (l *facts) asks() (stack, code bool) {
	for _, obj := range l.info.Uses {
		if fn, ok := obj.(*types.Func); ok {
			stack, code = stack || stackFunctions[fn.FullName()], code || fn.FullName() == codePointer
		}
	}
	return stack, code
}

// code returns the statement by which a function value begins that is of a function with a name and a position, none if nothing asks for that.
func (l *marker) code(pos token.Pos, name string, at token.Pos) []ast.Stmt {
	if !l.program.codes || l.silent {
		return nil
	}
	return []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, run.Code, l.quoted(pos, name), l.number(pos, int(at)))}}
}

// ofFunction makes a function literal the value of a function, whose name ends in more.
func (l *marker) ofFunction(lit *ast.FuncLit, fn *types.Func, more string) *ast.FuncLit {
	lit.Body.List = append(l.code(lit.Pos(), nameUsed(fn)+more, fn.Pos()), lit.Body.List...)
	return lit
}

// nameUsed names a function that a cell uses.
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

// nameOf names a function as package runtime does. What it is a method of has the name recv, and args are those of its type.
func nameOf(fn *types.Func, recv, name, args string) string {
	path, name := "go:builtin.", run.PlainNames(name) // of error
	if fn.Pkg() != nil {
		path = fn.Pkg().Path() + "."
	}
	if fn.Signature().Recv() == nil {
		return path + name + args
	}
	recv = run.PlainNames(recv) + args
	if check.IsPointer(fn.Signature().Recv().Type()) {
		recv = "(*" + recv + ")"
	}
	return path + recv + "." + name
}

// nameDeclared names a declared function.
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

// nameLiteral names a function literal in f.
func (f *function) nameLiteral() string {
	f.literals++
	if f.literal {
		return f.name + "." + strconv.Itoa(f.literals)
	}
	return f.name + ".func" + strconv.Itoa(f.literals)
}

// nameRange names the body of a range over a function in f.
func (f *function) nameRange() string {
	f.ranges++
	return f.name + "-range" + strconv.Itoa(f.ranges)
}

// enter returns the statement by which a function begins whose last brace is at end, none if nothing asks for the stack.
func (l *marker) enter(pos token.Pos, f *function, end token.Pos) []ast.Stmt {
	if !l.program.stacks || l.silent {
		return nil
	}
	return []ast.Stmt{l.enterAs(pos, f.name, end, f.top())}
}

func (l *builder) enterAs(pos token.Pos, name string, end token.Pos, top bool) ast.Stmt {
	isTop := l.ident(pos, strconv.FormatBool(top))
	return &ast.ExprStmt{X: l.helper(pos, run.Enter, l.quoted(pos, name), l.number(pos, int(end)), isTop)}
}

// leave returns the statement that says where a function makes its deferred calls, none if nothing asks for the stack.
func (l *marker) leave(at token.Pos) []ast.Stmt {
	if !l.program.stacks || l.silent {
		return nil
	}
	return []ast.Stmt{&ast.ExprStmt{X: l.helper(at, run.Leave, l.number(at, int(at)))}}
}
