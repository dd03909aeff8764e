package interp

import (
	"context"
	"fmt"
	"go/token"
	"maps"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petermattis/goid"

	"github.com/symmrepl/symmrepl/display"
)

// Import paths that lowered code uses and no cell can spell.
const (
	runtimePath = "symmrepl#runtime"
	hiddenPath  = "symmrepl#hidden"
)

// cellRuntime is what lowered code calls.
type cellRuntime struct {
	in     *Interp
	panics panicStacks
	mark   *int         // position of the statement that runs
	call   *int         // that of the cell's own statement
	busy   atomic.Int64 // how many cells and goroutines of cells run
	stacks *watch
	memory *watch
	own    sync.Map // the numbers of the goroutines that run code of cells and recover from its panics

	mu     sync.Mutex
	run    *run
	ctx    context.Context // ends when interpreted code is to stop
	cancel func()          // ends it
	late   []*defers       // of functions that were stopped
	values []reflect.Value // pointers to the values of the last expression
	texts  map[int]string  // of those that describe themselves
	forms  display.Data    // in which the value is shown, other than text
	shown  bool
}

func newCellRuntime(in *Interp) *cellRuntime {
	rt := &cellRuntime{in: in, panics: panicStacks{by: map[int64][]*panicking{}}}
	rt.ctx, rt.cancel = context.WithCancel(context.Background())
	rt.stacks, rt.memory = &watch{rt: rt, limit: newStackLimit()}, &watch{rt: rt, limit: &memoryLimit{available: availableMemory}}
	return rt
}

func (rt *cellRuntime) exports() Exports {
	table := map[string]reflect.Value{
		"Bind":           reflect.ValueOf(rt.bind),
		"Describe":       reflect.ValueOf(rt.describe),
		"Render":         reflect.ValueOf(rt.render),
		"Show":           reflect.ValueOf(rt.show),
		"Assert":         reflect.ValueOf(rt.assert),
		"Implements":     reflect.ValueOf(rt.implements),
		"Equal":          reflect.ValueOf(rt.equal),
		"Holds":          reflect.ValueOf(rt.holds),
		"Same":           reflect.ValueOf(func(a, b any) bool { return a == b }),
		"Hold":           reflect.ValueOf(rt.hold),
		"Native":         reflect.ValueOf(rt.native),
		"Unbox":          reflect.ValueOf(rt.unbox),
		"Method":         reflect.ValueOf(rt.in.natives.addMethod),
		"Implementation": reflect.ValueOf(rt.in.natives.addImplementation),
		"ReceiverHeld":   reflect.ValueOf(rt.receiverHeld),
		"IsNil":          reflect.ValueOf(rt.isNil),
		"FailAssert":     reflect.ValueOf(rt.failAssert),
		"Zero":           reflect.ValueOf(zero),
		"NewDefers":      reflect.ValueOf(rt.newDefers),
		"NewSelect":      reflect.ValueOf(rt.newSelect),
		"Recover":        reflect.ValueOf(rt.recoverPanic),
		"Forward":        reflect.ValueOf(rt.forward),
		"Go":             reflect.ValueOf(rt.goRun),
		"Lock":           reflect.ValueOf(rt.lock),
		"Wait":           reflect.ValueOf(rt.wait),
		"Yield":          reflect.ValueOf(runtime.Gosched),
		"Print":          reflect.ValueOf(printArgs),
		"Println":        reflect.ValueOf(func(args ...any) { fmt.Fprintln(os.Stderr, args...) }),
		"CondWait":       reflect.ValueOf(rt.condWait),
		"CmdRun":         reflect.ValueOf(rt.cmdRun),
		"CmdWait":        reflect.ValueOf(rt.cmdWait),
		"CmdOutput":      reflect.ValueOf(rt.cmdOutput),
		"CmdCombined":    reflect.ValueOf(rt.cmdCombined),
		"RLock":          reflect.ValueOf(rt.rlock),
		"WaitGo":         reflect.ValueOf(rt.waitGo),
	}
	maps.Copy(table, builtinExports())
	maps.Copy(table, rt.statementExports())
	return Exports{runtimePath + "/runtime": table}
}

// begin prepares for a run. Until a statement is marked, its position is that of the first.
func (rt *cellRuntime) begin(r *run) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if stmts := r.cell.stmts; len(stmts) > 0 {
		*rt.mark, *rt.call = int(stmts[0].Pos()), int(stmts[0].Pos())
	}
	rt.run, rt.values, rt.texts, rt.forms, rt.shown = r, nil, nil, display.Data{}, false
}

func (rt *cellRuntime) current() *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.run
}

// enter notes that the calling goroutine recovers from panics of the code of cells that it runs, until leave.
func (rt *cellRuntime) enter() (leave func()) {
	id := goid.Get()
	rt.own.Store(id, nil)
	return func() { rt.own.Delete(id) }
}

// started notes that a cell or a goroutine of one runs, until busy is lowered.
func (rt *cellRuntime) started() {
	first := rt.busy.Add(1) == 1
	rt.stacks.arm(first)
	rt.memory.arm(first)
}

// stopped returns the context that ends when interpreted code is to stop.
func (rt *cellRuntime) stopped() context.Context {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.ctx
}

// stop ends the waits of interpreted code, those too that begin before resume is called.
func (rt *cellRuntime) stop() (resume func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.cancel()
	return func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.ctx, rt.cancel = context.WithCancel(context.Background())
	}
}

// take returns pointers to the values of the cell's last expression, with what they say of themselves and the forms they are shown in, and forgets them.
func (rt *cellRuntime) take() (pointers []reflect.Value, texts map[int]string, forms display.Data, shown bool) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	pointers, rt.values = rt.values, nil
	return pointers, rt.texts, rt.forms, rt.shown
}

// bind remembers where yaegi keeps a variable.
func (rt *cellRuntime) bind(name string, pointer any) {
	switch name {
	case markName:
		rt.mark = pointer.(*int)
		return
	case callName:
		rt.call = pointer.(*int)
		return
	case panickingName:
		rt.panics.count = pointer.(*int)
		return
	case boxName:
		rt.in.inside.boxes = reflect.TypeOf(pointer).Elem()
		return
	}
	rt.in.mu.Lock()
	defer rt.in.mu.Unlock()
	if s := rt.in.scope.storage[name]; s != nil {
		s.pointer = reflect.ValueOf(pointer)
	}
}

// show takes the values of the cell's last expression.
func (rt *cellRuntime) show(pointers ...any) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.shown = true
	for _, p := range pointers {
		rt.values = append(rt.values, reflect.ValueOf(p))
	}
}

// describe takes the text that value i gives of itself. A nil pointer whose method panics is printed as any other.
func (rt *cellRuntime) describe(i int, f func() string) {
	text, ok := saidBy(f)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if v := rt.values[i].Elem(); !ok && nillable(v) && v.IsNil() {
		return
	}
	if rt.texts == nil {
		rt.texts = map[int]string{}
	}
	rt.texts[i] = text
}

// zero sets the variable that pointer points to to its zero value.
func zero(pointer any) { reflect.ValueOf(pointer).Elem().SetZero() }

// position is that of the statement which ran last.
func (rt *cellRuntime) position() token.Pos { return token.Pos(*rt.mark) }

// calledAt is that of the cell's own statement which ran last: another one while a function runs that it has called.
func (rt *cellRuntime) calledAt() token.Pos { return token.Pos(*rt.call) }

// afterFunc is time.AfterFunc; f runs as a goroutine of the cell does, but not once that was interrupted.
func (rt *cellRuntime) afterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, rt.later(f))
}

// later returns what compiled code may call in place of f at a later time.
func (rt *cellRuntime) later(f func()) func() {
	r := rt.current()
	return func() {
		// It is a goroutine of the run already while it looks: what stops the run waits for it.
		r.alive.Add(1)
		defer r.alive.Add(-1)
		if !r.ended.Load() {
			rt.goRun(f)
		}
	}
}
