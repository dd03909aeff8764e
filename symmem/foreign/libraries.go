package foreign

import (
	"errors"

	"github.com/symmrepl/symmrepl"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Libraries makes shared objects for programs whose processes run kernels on the emulated device by
// themselves, through the C interface of symmem/internal/cpu/emu/api.h. The objects stay in the
// cache of kernels, where several programs share them. All methods may be called concurrently.
type Libraries struct{ made cpu.Libraries }

// Text is a text of kernels.
type Text struct {
	Name      string   `json:"name"` // in messages
	Line      int      `json:"line"` // of Name on which Text begins
	Text      string   `json:"text"`
	Instances []string `json:"instances,omitempty"` // of templates, as "scale<float, 4>"
}

// Kernel is a kernel that can be launched.
type Kernel struct {
	Name   string  `json:"name"`
	Params []Param `json:"params"`
}

// Param is a parameter of a kernel, as the text declares it.
type Param struct {
	Name string `json:"name"` // empty if the text has none
	Type string `json:"type"`
}

// Diagnostic is an error of a compiler. Line and Column count from 1; they are 0 if the compiler
// does not say.
type Diagnostic struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
	Source string `json:"source"` // the line
}

// Kernels returns the path of the library of a text, and its kernels in the order of the text.
// watched makes one whose accesses the sanitizer sees. [Diagnostics] has the places of an error.
func (l *Libraries) Kernels(t Text, watched bool) (path string, kernels []Kernel, err error) {
	path, found, err := l.made.Kernels(device.Source{Name: t.Name, Line: t.Line, Text: t.Text, Instances: t.Instances}, watched)
	for _, k := range found {
		kernel := Kernel{Name: k.Name, Params: []Param{}}
		for _, p := range k.Params {
			kernel.Params = append(kernel.Params, Param{p.Name, p.Type})
		}
		kernels = append(kernels, kernel)
	}
	return path, kernels, err
}

// Operation returns the path of the library of a kernel of package kernels, such as
// "pull_reduce_f32".
func (l *Libraries) Operation(name string, watched bool) (path string, err error) {
	return l.made.Operation(name, watched)
}

// Emulator returns the path of the library that runs kernels.
func (l *Libraries) Emulator() (path string, err error) { return l.made.Emulator(symmrepl.Sources) }

// Close waits for what is made in the background.
func (l *Libraries) Close() { l.made.Close() }

// Diagnostics returns the errors of the compiler in an error of Kernels, or none if the text was not
// to blame.
func Diagnostics(err error) []Diagnostic {
	var refused *device.CompileError
	if !errors.As(err, &refused) {
		return nil
	}
	list := []Diagnostic{}
	for _, d := range refused.Diagnostics {
		list = append(list, Diagnostic(d))
	}
	return list
}

// Layout describes a struct of the kernels' arguments, in bytes.
type Layout struct {
	Size   uintptr          `json:"size"`
	Fields map[string]Field `json:"fields"`
}

// Field is a field of a struct.
type Field struct {
	Offset uintptr `json:"offset"`
	Size   uintptr `json:"size"`
}

// Layouts returns the structs that the kernels of package kernels take, by their names without
// namespaces.
func Layouts() map[string]Layout {
	layouts := map[string]Layout{}
	cpu.EachField(func(name string, bytes uintptr, field string, offset, size uintptr) {
		if layouts[name].Fields == nil {
			layouts[name] = Layout{bytes, map[string]Field{}}
		}
		layouts[name].Fields[field] = Field{offset, size}
	})
	return layouts
}
