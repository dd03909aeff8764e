package interp

import (
	"fmt"
	"go/token"
	"maps"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
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
	busy   atomic.Int64 // how many cells and goroutines of cells run

	mu     sync.Mutex
	run    *run
	values []reflect.Value // pointers to the values of the last expression
	texts  map[int]string  // of those that describe themselves
	shown  bool
}

func newCellRuntime(in *Interp) *cellRuntime {
	return &cellRuntime{in: in, panics: panicStacks{by: map[uint64][]*panicking{}}}
}

func (rt *cellRuntime) exports() Exports {
	table := map[string]reflect.Value{
		"Bind":       reflect.ValueOf(rt.bind),
		"Describe":   reflect.ValueOf(rt.describe),
		"Show":       reflect.ValueOf(rt.show),
		"Assert":     reflect.ValueOf(rt.assert),
		"Implements": reflect.ValueOf(rt.implements),
		"Equal":      reflect.ValueOf(rt.equal),
		"Hold":       reflect.ValueOf(rt.hold),
		"IsNil":      reflect.ValueOf(rt.isNil),
		"FailAssert": reflect.ValueOf(rt.failAssert),
		"Zero":       reflect.ValueOf(zero),
		"NewDefers":  reflect.ValueOf(rt.newDefers),
		"Recover":    reflect.ValueOf(rt.recoverPanic),
		"Go":         reflect.ValueOf(rt.goRun),
		"Lock":       reflect.ValueOf(rt.lock),
		"Wait":       reflect.ValueOf(rt.wait),
		"Yield":      reflect.ValueOf(runtime.Gosched),
		"Print":      reflect.ValueOf(func(args ...any) { fmt.Fprint(os.Stderr, args...) }),
		"Println":    reflect.ValueOf(func(args ...any) { fmt.Fprintln(os.Stderr, args...) }),
		"RLock":      reflect.ValueOf(rt.rlock),
		"WaitGo":     reflect.ValueOf(rt.waitGo),
	}
	maps.Copy(table, builtinExports())
	return Exports{runtimePath + "/runtime": table}
}

// begin prepares for a run. Until a statement is marked, its position is that of the first.
func (rt *cellRuntime) begin(r *run) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if stmts := r.cell.stmts; len(stmts) > 0 {
		*rt.mark = int(stmts[0].Pos())
	}
	rt.run, rt.values, rt.texts, rt.shown = r, nil, nil, false
}

func (rt *cellRuntime) current() *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.run
}

// take returns pointers to the values of the cell's last expression, with what they say of themselves, and forgets them.
func (rt *cellRuntime) take() (pointers []reflect.Value, texts map[int]string, shown bool) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	pointers, rt.values = rt.values, nil
	return pointers, rt.texts, rt.shown
}

// bind remembers where yaegi keeps a variable.
func (rt *cellRuntime) bind(name string, pointer any) {
	switch name {
	case markName:
		rt.mark = pointer.(*int)
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

// afterFunc is time.AfterFunc; f runs as a goroutine of the cell does.
func (rt *cellRuntime) afterFunc(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { rt.goRun(f) })
}
