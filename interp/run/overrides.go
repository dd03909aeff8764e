package run

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"strings"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/symbols"
)

// overrides returns the symbols of the standard library that differ for cells.
func (rt *Runtime) overrides() Exports {
	inReflect, inErrors := rt.reflectExports()
	return Exports{
		"reflect/reflect": inReflect,
		"errors/errors":   inErrors,
		// Yaegi converts values before it passes them to printing functions. Native values have
		// their methods, so this is switched off.
		".":               {"MapTypes": reflect.ValueOf(map[reflect.Value][]reflect.Type{})},
		"time/time":       {"Sleep": reflect.ValueOf(rt.sleep), "AfterFunc": reflect.ValueOf(rt.afterFunc)},
		"context/context": {"AfterFunc": reflect.ValueOf(rt.contextAfterFunc)},
		"strings/strings": {"Repeat": reflect.ValueOf(func(s string, n int) string { return strings.Repeat(s, rt.roomInt(n, len(s))) })},
		"bytes/bytes":     {"Repeat": reflect.ValueOf(func(b []byte, n int) []byte { return bytes.Repeat(b, rt.roomInt(n, len(b))) })},
		"os/exec/exec":    {"Command": reflect.ValueOf(rt.command)},
		"unsafe/unsafe":   {"Pointer": reflect.ValueOf((*unsafe.Pointer)(nil))},
		"runtime/runtime": {
			"SetFinalizer": reflect.ValueOf(rt.SetFinalizer), "Stack": reflect.ValueOf(rt.stackInto),
			"Caller":  reflect.ValueOf(rt.runtimeCaller),
			"Callers": reflect.ValueOf(rt.runtimeCallers), "CallersFrames": reflect.ValueOf(rt.runtimeFrames),
			"FuncForPC": reflect.ValueOf(rt.runtimeFunc),
		},
		"runtime/debug/debug": {"Stack": reflect.ValueOf(rt.debugStack), "PrintStack": reflect.ValueOf(rt.printStack)},
	}
}

// overridesAfterUse returns the symbols that yaegi overwrites with its own when it gets the tables.
// For example, its log writes to its standard error and does not exit.
func overridesAfterUse() Exports {
	return Exports{
		"log/log":   symbols.Tables()["log/log"],
		"os/os":     {"Exit": reflect.ValueOf(os.Exit), "Args": reflect.ValueOf(&os.Args).Elem()},
		"flag/flag": {"CommandLine": reflect.ValueOf(&flag.CommandLine).Elem()},
	}
}
