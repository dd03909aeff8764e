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

// asksForStack reports whether a cell uses a function of package runtime that tells of the stack.
func (l *lowerer) asksForStack() bool {
	for _, obj := range l.info.Uses {
		for _, name := range []string{"Caller", "Callers", "CallersFrames", "FuncForPC"} {
			if isRuntime(obj, name) {
				return true
			}
		}
	}
	return false
}

// isRuntime reports whether obj is a function of package runtime.
func isRuntime(obj types.Object, name string) bool {
	fn, ok := obj.(*types.Func)
	return ok && fn.Name() == name && fn.Pkg() != nil && fn.Pkg().Path() == "runtime" && fn.Signature().Recv() == nil
}

// refuseFunctionValue refuses to look for the function of a function value, runtime.FuncForPC(reflect.ValueOf(f).Pointer()).
func (l *lowerer) refuseFunctionValue(fun *ast.SelectorExpr, e *ast.CallExpr) {
	if !isRuntime(l.info.Uses[fun.Sel], "FuncForPC") {
		return
	}
	ast.Inspect(e.Args[0], func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		fn, ok := l.info.Uses[sel.Sel].(*types.Func)
		if ok && fn.Pkg() != nil && fn.Pkg().Path() == "reflect" && (fn.Name() == "Pointer" || fn.Name() == "UnsafePointer") {
			l.refuse(sel.Sel.Pos(), "runtime.FuncForPC of a function value, as functions of cells have no program counters; keep the name beside the function")
		}
		return true
	})
}

// nameDeclared names a declared function as package runtime does.
func (l *lowerer) nameDeclared(d *ast.FuncDecl, fn *types.Func) string {
	name, args := run.PlainNames(d.Name.Name), ""
	if l.instancing {
		args = "[...]"
	}
	if d.Recv == nil {
		if name == "init" {
			name += "." + strconv.Itoa(l.inits)
			l.inits++
		}
		return fn.Pkg().Path() + "." + name + args
	}
	recv := run.PlainNames(check.ReceiverName(d).Name) + args
	if check.IsPointer(fn.Signature().Recv().Type()) {
		recv = "(*" + recv + ")"
	}
	return fn.Pkg().Path() + "." + recv + "." + name
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
func (l *lowerer) enter(pos token.Pos, f *function, end token.Pos) []ast.Stmt {
	if !l.program.stacks || l.silent {
		return nil
	}
	return []ast.Stmt{l.enterAs(pos, f.name, end, f.top())}
}

func (l *lowerer) enterAs(pos token.Pos, name string, end token.Pos, top bool) ast.Stmt {
	isTop := l.ident(pos, strconv.FormatBool(top))
	return &ast.ExprStmt{X: l.helper(pos, run.Enter, l.quoted(pos, name), l.number(pos, int(end)), isTop)}
}

// leave returns the statement that says where a function makes its deferred calls, none if nothing asks for the stack.
func (l *lowerer) leave(at token.Pos) []ast.Stmt {
	if !l.program.stacks || l.silent {
		return nil
	}
	return []ast.Stmt{&ast.ExprStmt{X: l.helper(at, run.Leave, l.number(at, int(at)))}}
}
