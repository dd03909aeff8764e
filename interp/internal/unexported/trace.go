package unexported

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"
)

// inlined is the data behind a runtime.Func for an inlined function, which has no code of its own.
type inlined struct {
	ones       uint32
	entry      uintptr
	name, file string
	line       int32
	startLine  int32
}

// Function returns a runtime.Func for a function that begins at a program counter without code, and
// at a line.
func Function(entry uintptr, name, file string, line int) *runtime.Func {
	return (*runtime.Func)(unsafe.Pointer(&inlined{ones: ^uint32(0), entry: entry, name: name, file: file, line: int32(line),
		startLine: int32(line)}))
}

// Frames returns an iterator over frames.
func Frames(list []runtime.Frame) (*runtime.Frames, error) {
	frames := runtime.CallersFrames(nil)
	field, err := Field(reflect.ValueOf(frames).Elem(), "frames", reflect.Slice)
	if err == nil {
		field.Set(reflect.ValueOf(list))
	}
	return frames, err
}

// CheckTrace checks that package runtime accepts the results of Function and Frames as its own.
func CheckTrace() error {
	const counter = 1 << 62
	f := Function(counter, "main.f", "f.go", 7)
	if file, line := f.FileLine(counter); f.Name() != "main.f" || file != "f.go" || line != 7 {
		return fmt.Errorf("interp: a runtime.Func is not what it was: it says %s of %s:%d, not main.f of f.go:7", f.Name(), file, line)
	}
	frames, err := Frames([]runtime.Frame{{Function: "a"}, {Function: "b"}, {Function: "c"}})
	if err != nil {
		return err
	}
	names := ""
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		names += f.Function
	}
	if names != "abc" {
		return fmt.Errorf("interp: runtime.Frames are not what they were: they say %q", names)
	}
	return nil
}
