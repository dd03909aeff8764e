package stacks

import (
	"path"
	"reflect"
	"runtime"
	"sync"

	"github.com/symmrepl/symmrepl/interp/internal/unexported"
)

// tracePoint is a place at which a function calls another.
type tracePoint struct {
	name, file string
	line       int
}

// tracePoints assigns program counters to the points of functions of cells.
type tracePoints struct {
	mu        sync.Mutex
	list      []tracePoint
	functions []*runtime.Func // the functions of the points
	number    map[tracePoint]int
}

// Program counters of points begin at firstCounter, where there is no code, and are counterStep
// apart, because programs also look up the address before a program counter.
const (
	firstCounter = 1 << 62
	counterStep  = 16
)

// counter returns the program counter of a point, as a return address.
func (t *tracePoints) counter(p tracePoint) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, known := t.number[p]
	if !known {
		if t.number == nil {
			t.number = map[tracePoint]int{}
		}
		i = len(t.list)
		t.number[p] = i
		t.list = append(t.list, p)
		t.functions = append(t.functions, unexported.Function(firstCounter+uintptr(i)*counterStep, p.name, p.file, p.line))
	}
	return firstCounter + uintptr(i)*counterStep + 1
}

// at returns the point of a program counter, and the result of runtime.FuncForPC for it, or nil if
// the counter has no point.
func (t *tracePoints) at(pc uintptr) (p tracePoint, f *runtime.Func) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := (pc - firstCounter) / counterStep; pc >= firstCounter && i < uintptr(len(t.list)) {
		return t.list[i], t.functions[i]
	}
	return tracePoint{}, nil
}

// runtimeFiles has the files of functions of package runtime.
var runtimeFiles = map[string]string{"runtime.Callers": "extern.go", "runtime.main": "proc.go",
	"runtime.goexit": "asm_" + runtime.GOARCH + ".s"}

// ofRuntime returns the point of a function of package runtime; its line is not known.
func (t *tracePoints) ofRuntime(name string) tracePoint {
	callers, _ := runtime.FuncForPC(reflect.ValueOf(runtime.Callers).Pointer()).FileLine(0)
	file := runtimeFiles[name]
	if file == "" {
		file = "panic.go"
	}
	return tracePoint{name: name, file: path.Join(path.Dir(callers), file)}
}
