package interp

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"reflect"
	"runtime"
	"sync"
)

// runtimePath is the import path of the helpers that lowered code calls; no cell can import it.
const (
	runtimePath = "symmrepl#runtime"
	hiddenPath  = "symmrepl#hidden"
)

// cellRuntime is what lowered code calls.
type cellRuntime struct {
	in     *Interp
	traces *traces

	mark *int // position of the statement that runs
	ctx  context.Context
	left func()

	mu     sync.Mutex
	values []reflect.Value // pointers to the values of the last expression
	shown  bool
}

func newCellRuntime(in *Interp) *cellRuntime {
	return &cellRuntime{in: in, traces: newTraces()}
}

func (r *cellRuntime) exports() Exports {
	return Exports{runtimePath + "/runtime": {
		"Bind":      reflect.ValueOf(r.bind),
		"Show":      reflect.ValueOf(r.show),
		"Zero":      reflect.ValueOf(zero),
		"NewDefers": reflect.ValueOf(r.newDefers),
		"Recover":   reflect.ValueOf(r.recoverPanic),
		"Go":        reflect.ValueOf(r.goRun),
		"Print":     reflect.ValueOf(func(args ...any) { fmt.Fprint(os.Stderr, args...) }),
		"Println":   reflect.ValueOf(func(args ...any) { fmt.Fprintln(os.Stderr, args...) }),
		"Yield":     reflect.ValueOf(runtime.Gosched),
		"Done":      reflect.ValueOf(r.done),
	}}
}

// bind remembers where yaegi keeps a variable.
func (r *cellRuntime) bind(name string, pointer any) {
	switch name {
	case markName:
		r.mark = pointer.(*int)
		return
	case boxName:
		r.in.inside.boxes = reflect.TypeOf(pointer).Elem()
		return
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if s := r.in.scope.storage[name]; s != nil {
		s.pointer = reflect.ValueOf(pointer)
	}
}

// show takes the values of the cell's last expression.
func (r *cellRuntime) show(pointers ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = true
	for _, p := range pointers {
		r.values = append(r.values, reflect.ValueOf(p))
	}
}

// zero sets the variable that pointer points to to its zero value.
func zero(pointer any) { reflect.ValueOf(pointer).Elem().SetZero() }

// begin prepares for a cell.
func (r *cellRuntime) begin(ctx context.Context) { r.ctx = ctx }

// goRun is the go statement.
func (r *cellRuntime) goRun(f func()) {
	go func() {
		defer func() {
			if v := recover(); v != nil {
				fmt.Fprintln(os.Stderr, "goroutine panicked:", v)
			}
		}()
		f()
	}()
}

// done is deferred by every cell.
func (r *cellRuntime) done() { r.left() }

// position is that of the statement which ran last.
func (r *cellRuntime) position() token.Pos { return token.Pos(*r.mark) }
