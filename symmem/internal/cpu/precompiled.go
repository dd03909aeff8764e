//go:build linux && (amd64 || arm64)

package cpu

import (
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// beginning is the beginning of every unit. To parse its headers takes most of the time that a
// small text takes to compile, so it is precompiled, once for each set of flags.
const beginning = "#define CPU_KERNEL(name, ...)\n#include \"cuda_on_cpu.h\"\n#include \"symm.cuh\"\n"

// precompiling is the state of a compiler's precompiled beginnings.
type precompiling struct {
	mu     sync.Mutex
	begun  map[string]bool // the entries that this process makes or has made, by name
	off    bool            // a unit was compiled without a precompiled beginning, but not with it
	making sync.WaitGroup
}

// compile compiles a unit with these flags and writes the result to out; more arguments follow the
// flags. It uses the precompiled beginning if there is one, and otherwise makes one for later units
// in the background. If the compiler refuses the unit with the precompiled beginning, it compiles
// the whole unit, so what it says and whether it succeeds do not depend on the cache.
func (c *compiler) compile(src device.Source, unit, out string, flags []string, more ...string) error {
	whole := func() error { return c.call(src, unit, out, slices.Concat(flags, more)) }
	rest, ok := strings.CutPrefix(unit, beginning)
	if !ok || c.cxx.Zig {
		return whole()
	}
	include, file := c.precompiled(flags)
	if file == "" {
		return whole()
	}
	if c.call(src, rest, out, slices.Concat(include, flags, more)) == nil {
		return nil
	}
	if err := whole(); err != nil {
		return err
	}
	c.precompiling.mu.Lock()
	defer c.precompiling.mu.Unlock()
	c.precompiling.off = true
	os.Remove(file)
	return nil
}

// precompiled returns the arguments that include the precompiled beginning for units with these
// flags, and its file. If there is none, it starts to make one and returns "".
func (c *compiler) precompiled(flags []string) (include []string, file string) {
	header := "precompiled-" + kernelcache.Key(append([]string{c.common, beginning}, flags...)...) + ".h"
	name := header + ".gch" // where g++ searches what -include names
	if c.cache.Has(header) && c.cache.Has(name) {
		file = c.cache.Path(name)
	}
	p := &c.precompiling
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.off:
		return nil, ""
	case file != "" && c.clang:
		return append([]string{"-include-pch", file}, byContent...), file
	case file != "":
		return []string{"-include", c.cache.Path(header)}, file
	case !p.begun[name]:
		if p.begun == nil {
			p.begun = map[string]bool{}
		}
		p.begun[name] = true
		p.making.Go(func() { c.precompile(header, name, flags) })
	}
	return nil, ""
}

// byContent makes clang++ compare the content of a header that is newer than the precompiled
// beginning. g++ does not look at headers again.
var byContent = []string{"-Xclang", "-fvalidate-ast-input-files-content"}

// precompile makes a precompiled beginning. Without it, units are compiled more slowly, so errors
// are dropped.
func (c *compiler) precompile(header, name string, flags []string) {
	flags = slices.Clone(flags)
	if c.clang {
		flags = append(flags, byContent...)
	}
	text, err := c.cache.Entry(header, nil, func(path string) error { return os.WriteFile(path, []byte(beginning), 0o600) })
	if err != nil {
		return
	}
	c.cache.Entry(name, nil, func(path string) error {
		if _, err := writeHeaders(c.cache, c.files); err != nil {
			return err
		}
		return c.call(device.Source{Name: header, Line: 1}, "", path,
			slices.Concat(flags, []string{"-x", "c++-header", "-o", path, text}))
	})
}
