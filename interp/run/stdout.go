package run

import (
	"go/types"
	"os/exec"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/session/inband"
)

// stdout is the writer to which fmt prints in cells: the current os.Stdout, which cells may
// replace. Because it is not a file itself, yaegi lets cells use the variable os.Stdout of this
// process.
type stdout struct{}

func (stdout) Write(text []byte) (int, error) { return inband.Write(text) }

// NoteUses takes notice of what a cell uses, before the cell is compiled.
func (rt *Runtime) NoteUses(info *types.Info) {
	if rt.printsItself.Load() {
		return
	}
	for _, obj := range info.Uses {
		if v, ok := obj.(*types.Var); ok && v.Name() == "Stdout" && v.Pkg() != nil && v.Pkg().Path() == "os" && !v.IsField() {
			rt.printsItself.Store(true)
			return
		}
	}
}

// printing returns the step of a call of a compiled function, made of the step that does it. Once
// code of cells has the variable os.Stdout, any such function may print to it, as Flush of a
// bufio.Writer does; what it prints is kept in order with standard error.
func (rt *Runtime) printing(node *yaegi.Node, call yaegi.Step) yaegi.Step {
	if runsProgram(node) {
		return call
	}
	return func(frame *yaegi.Frame) (next yaegi.Step) {
		if !rt.printsItself.Load() {
			return call(frame)
		}
		inband.Print(func() { next = call(frame) })
		return next
	}
}

// runsProgram reports whether a node calls a method of an exec.Cmd. What another program prints keeps
// no order, so it is shown as it comes.
func runsProgram(node *yaegi.Node) bool {
	t := node.Children()[0].Type()
	return t != nil && t.Kind() == reflect.Func && t.NumIn() > 0 && t.In(0) == reflect.TypeFor[*exec.Cmd]()
}
