//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/builtin"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emulib"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// Libraries makes shared objects for processes that run kernels by the emulator's C interface,
// emu/api.h, instead of a Device. They stay in the cache of kernels, and belong to nobody.
type Libraries struct{ compiler compiler }

// Close waits for what the compiler makes in the background.
func (l *Libraries) Close() { l.compiler.close() }

// Kernels returns the path of the library of a snippet, and its kernels in the order of the text.
// Errors: [*device.CompileError], [*device.UnavailableError].
func (l *Libraries) Kernels(src device.Source, watched bool) (path string, kernels []signature.Kernel, err error) {
	launchable, err := launchableKernels(src)
	if err != nil {
		return "", nil, err
	}
	path, kernels, err = l.compiler.present(src, launchable, watched)
	if err != nil {
		return "", nil, err
	}
	content, err := l.compiler.cache.Read(filepath.Base(path))
	if err != nil {
		return "", nil, err
	}
	return path, kernels, refuseConstructors(src, content)
}

// Operation returns the path of the library of a kernel of this project, such as pull_reduce_f32.
func (l *Libraries) Operation(name string, watched bool) (path string, err error) {
	file, ok := kernels.Source(name, 0)
	if !ok {
		return "", fmt.Errorf("there is no kernel %s", name)
	}
	return l.compiler.operation(device.Source{Name: file.Name, Line: 1}, operationUnit(file, name), watched)
}

// Emulator returns the path of the library that runs kernels: the one beside this program, as in a
// wheel, if it was built of the same files, and otherwise one in the cache. sources has the files of
// this module from its root on.
func (l *Libraries) Emulator(sources fs.FS) (string, error) {
	files, err := emulib.Sources(sources)
	if err != nil {
		return "", err
	}
	if program, err := os.Executable(); err == nil {
		if path := emulib.Prebuilt(filepath.Dir(program), files); path != "" {
			return path, nil
		}
	}
	c := &l.compiler
	if err := c.prepare(); err != nil {
		return "", err
	}
	flags := slices.Clone(emulib.Flags)
	if c.cxx.Zig {
		flags = append(flags, emulib.ZigFlags(runtime.GOARCH)...)
	}
	key := kernelcache.Key(slices.Concat([]string{c.cxx.String(), c.version, headersName(files)}, flags)...)
	return c.cache.Entry("emulator-"+key+".so", nil, func(out string) error {
		from, err := writeHeaders(c.cache, files)
		if err != nil {
			return err
		}
		arguments, unit := emulib.Unit(files, from, out)
		arguments = append(flags, arguments...)
		command := c.cxx.Command(arguments...)
		if c.cxx.Zig {
			folder, err := os.MkdirTemp(filepath.Dir(out), "zig-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			command = c.cxx.zigCXX(folder, arguments...)
		}
		return c.wait(device.Source{Name: "the emulator", Line: 1}, unit, out, command)
	})
}

// EachField calls yield for the fields of the structs that operations' kernels take, in the order of
// the structs: with the struct's name without namespaces and its size, and the field's name, offset
// and size in bytes.
func EachField(yield func(name string, bytes uintptr, field string, offset, size uintptr)) {
	structs, _ := builtin.Declarations()
	for _, s := range structs {
		for _, f := range s.Fields {
			yield(s.Name, s.Size, f.Name, f.Offset, f.Size)
		}
	}
}
