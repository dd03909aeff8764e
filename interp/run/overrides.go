package run

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/symmrepl/symmrepl/internal/environ"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// overrides returns the symbols of the standard library that differ for cells.
func (rt *Runtime) overrides() contract.Exports {
	inReflect, inErrors := rt.Natives.Exports()
	return contract.Exports{
		"reflect/reflect": inReflect,
		"errors/errors":   inErrors,
		"fmt/fmt": {
			"Print":   reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprint(stdout{}, a...) }),
			"Printf":  reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fprintf(stdout{}, format, a...) }),
			"Println": reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fprintln(stdout{}, a...) }),
		},
		"time/time":       {"Sleep": reflect.ValueOf(rt.Sleep), "AfterFunc": reflect.ValueOf(rt.AfterFunc)},
		"context/context": {"AfterFunc": reflect.ValueOf(rt.ContextAfterFunc)},
		"strings/strings": {"Repeat": reflect.ValueOf(func(s string, n int) string { return strings.Repeat(s, rt.Limits.RoomInt(n, len(s))) })},
		"bytes/bytes":     {"Repeat": reflect.ValueOf(func(b []byte, n int) []byte { return bytes.Repeat(b, rt.Limits.RoomInt(n, len(b))) })},
		"os/os":           {"Setenv": reflect.ValueOf(environ.Setenv)},
		"syscall/syscall": {"Setenv": reflect.ValueOf(environ.Setenv)},
		"os/exec/exec":    {"Command": reflect.ValueOf(rt.Command)},
		"unsafe/unsafe":   {"Pointer": reflect.ValueOf((*unsafe.Pointer)(nil))},
		"runtime/runtime": {
			"SetFinalizer": reflect.ValueOf(rt.SetFinalizer), "Stack": reflect.ValueOf(rt.Stacks.Stack),
			"Caller":  reflect.ValueOf(rt.Stacks.Caller),
			"Callers": reflect.ValueOf(rt.Stacks.Callers), "CallersFrames": reflect.ValueOf(rt.Stacks.Frames),
			"FuncForPC": reflect.ValueOf(rt.Stacks.FuncForPC),
		},
		"runtime/debug/debug": {"Stack": reflect.ValueOf(rt.Stacks.DebugStack), "PrintStack": reflect.ValueOf(rt.Stacks.PrintStack)},
	}
}
