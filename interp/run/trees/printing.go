package trees

import (
	"go/types"
	"os/exec"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/session/inband"
)

// NoteUses records whether a cell uses the variable os.Stdout. It is called before the cell is compiled.
func (t *Trees) NoteUses(info *types.Info) {
	if t.printsItself.Load() {
		return
	}
	for _, obj := range info.Uses {
		if v, ok := obj.(*types.Var); ok && v.Name() == "Stdout" && v.Pkg() != nil && v.Pkg().Path() == "os" && !v.IsField() {
			t.printsItself.Store(true)
			return
		}
	}
}

// printing returns the step of a call of a compiled function; call is the step without order. Once
// code of cells has used the variable os.Stdout, any compiled function may print to it, for example
// Flush of a bufio.Writer. The returned step keeps that output in order with standard error.
func (t *Trees) printing(node *yaegi.Node, call yaegi.Step) yaegi.Step {
	if t := node.Children()[0].Type(); t != nil && t.Kind() == reflect.Func && !mayPrint(t) {
		return call
	}
	return func(frame *yaegi.Frame) (next yaegi.Step) {
		if !t.printsItself.Load() {
			return call(frame)
		}
		inband.Print(func() { next = call(frame) })
		return next
	}
}

// mayPrint reports whether a compiled function of type t, or a method with its receiver, may print to
// os.Stdout. It does not if all its parameters are numbers, strings and the like, from which it gets no
// writer. Nor do methods of exec.Cmd, because the output of another program follows no order.
func mayPrint(t reflect.Type) bool {
	if t.NumIn() == 0 {
		return true
	}
	for in := range t.Ins() {
		for in.Kind() == reflect.Slice || in.Kind() == reflect.Array {
			in = in.Elem()
		}
		if kind := in.Kind(); kind > reflect.Complex128 && kind != reflect.String {
			return t.In(0) != reflect.TypeFor[*exec.Cmd]()
		}
	}
	return false
}
