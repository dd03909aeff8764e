//go:build linux && (amd64 || arm64)

package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// compiler is the host's C++ compiler, with the cache of its libraries.
type compiler struct {
	quiet bool // another process of the world writes messages
	once  sync.Once
	err   error

	findOnce sync.Once
	findErr  error
	cxx      CXX
	version  string // what it prints about itself

	clang   bool
	flags   []string
	cache   *kernelcache.Cache
	files   []kernels.File // the headers
	headers string         // their folder, in the cache
	common  string         // the common part of all libraries' keys: the compiler, its flags, the headers

	watchOnce sync.Once
	watchErr  error

	precompiling precompiling
}

// commonFlags: no system headers, as on the GPU; no aliasing or overflow rules, which CUDA code
// does not follow; undefined behaviour traps.
var commonFlags = []string{
	"-x", "c++", "-std=c++20", "-O2", "-g1", "-fPIC", "-shared", "-w",
	"-nostdinc", "-fno-exceptions", "-fno-rtti", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-strict-aliasing",
	"-fwrapv", "-fvisibility=hidden",
	"-fsigned-char", "-fstack-clash-protection", "-fno-threadsafe-statics",
	// floats as on a GPU: neither errno nor exceptions; and loops that are marked become vectors
	"-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd",
	"-fsanitize=shift-exponent,float-cast-overflow,alignment", "-fsanitize-undefined-trap-on-error",
	// a kernel may have the name of a C function, which is visible by default
	"-Wl,-z,defs", "-Wl,-Bsymbolic",
}

// close waits for what the compiler makes in the background.
func (c *compiler) close() { c.precompiling.making.Wait() }

// prepare finds the compiler and writes the headers, when the first snippet is compiled.
func (c *compiler) prepare() error {
	c.once.Do(func() {
		if c.err = c.find(); c.err == nil {
			c.err = c.begin()
		}
	})
	return c.err
}

// find finds the compiler, at the first call.
func (c *compiler) find() error {
	c.findOnce.Do(func() {
		if c.cxx, c.findErr = FindCXX(); c.findErr == nil {
			c.version, c.findErr = c.cxx.Version()
		}
	})
	return c.findErr
}

// canWatch returns an error if there is no compiler that can compile watched kernels. It asks at the
// first call only.
func (c *compiler) canWatch() error {
	if err := c.find(); err != nil {
		return err
	}
	c.watchOnce.Do(func() { c.watchErr = c.cxx.canWatch(c.version) })
	return c.watchErr
}

// begin chooses the flags, opens the cache and writes the headers.
func (c *compiler) begin() (err error) {
	version := c.version
	c.flags = slices.Concat(commonFlags, machineFlags, []string{"-DSYMM_ONCE_ELSEWHERE"})
	c.clang = isClang(version)
	if zig := zigBehind(version); zig != "" && !c.cxx.Zig { // SYMMREPL_CXX may name a script that calls it
		c.cxx.Path, c.cxx.Zig = zig, true
	}
	if c.clang {
		c.flags = append(c.flags, "-ferror-limit=20", "-fno-caret-diagnostics", "-fno-color-diagnostics", "-fsanitize=array-bounds",
			"-gdwarf-4",                       // of version 5, GNU's linker 2.40 confuses the files
			"-fno-delete-null-pointer-checks") // a store to address 0 is a fault, not removed
		n := clangVersion(version)
		if n >= 20 {
			c.flags = append(c.flags, "-fno-sanitize-merge") // traps of different lines stay apart
		}
		if n >= 22 {
			c.flags = append(c.flags, "-fno-sanitize-debug-trap-reasons") // which give a trap line 0 of a function that says why
		}
	} else {
		c.flags = append(c.flags, "-fmax-errors=20", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never",
			"-fno-gnu-unique", "-fsanitize=bounds",
			"--param", "max-inline-insns-auto=40") // small kernels become a part of the loop over the threads; the checks of a kernel count
		c.flags = append(c.flags, gccFlags...)
	}
	if c.cache, err = kernelcache.Open("cpu", os.Getenv); err != nil {
		return &device.UnavailableError{Kind: "cpu", Why: "no folder to keep compiled kernels in: " + err.Error(),
			Hint: "name one in SYMMREPL_CACHE"}
	}
	if note := c.cache.Note(); note != "" && !c.quiet {
		fmt.Fprintln(os.Stderr, "symmrepl:", note)
	}
	if c.files, err = allHeaders(); err != nil {
		return err
	}
	c.headers, err = writeHeaders(c.cache, c.files)
	c.common = kernelcache.Key(append(append([]string{c.cxx.String(), version, c.headers}, "flags"), c.flags...)...)
	return err
}

// allHeaders returns the headers that a snippet can include: the emulator's, C's (which are empty),
// and those of package kernels.
func allHeaders() ([]kernels.File, error) {
	headers, err := emulatorHeaders()
	for _, f := range kernels.CHeaders() {
		headers = append(headers, kernels.File{Name: f.Name})
	}
	return slices.Concat(headers, kernels.Headers(), kernels.LibraryHeaders(), kernels.ToolkitHeaders()), err
}

// emulatorHeaders returns the files of package emu: headers, and the shared memory of modules.
func emulatorHeaders() (headers []kernels.File, err error) {
	err = fs.WalkDir(emu.Headers, "include", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(emu.Headers, path)
		headers = append(headers, kernels.File{Name: strings.TrimPrefix(path, "include/"), Text: string(text)})
		return err
	})
	return headers, err
}

// headersName returns the name of the folder of headers, which identifies their content.
func headersName(headers []kernels.File) string {
	var fields []string
	for _, h := range headers {
		fields = append(fields, h.Name, h.Text)
	}
	return "headers-" + kernelcache.Key(fields...)
}

// writeHeaders writes headers to a folder of the cache, unless they are there.
func writeHeaders(cache *kernelcache.Cache, headers []kernels.File) (folder string, err error) {
	return cache.Entry(headersName(headers), nil, func(folder string) error {
		for _, h := range headers {
			path := filepath.Join(folder, h.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(h.Text), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}

// library returns the path of the compiled unit.
func (c *compiler) library(src device.Source, unit string) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	return c.unit(src, unit, c.headers, c.files)
}

// unit returns the path of a compiled unit; folder is that of its headers.
func (c *compiler) unit(src device.Source, unit, folder string, headers []kernels.File) (string, error) {
	return c.cache.Entry(kernelcache.Key(c.common, folder, unit)+".so", nil, func(path string) error {
		// they may have been damaged meanwhile
		if _, err := writeHeaders(c.cache, headers); err != nil {
			return err
		}
		return c.build(src, unit, path, folder, false)
	})
}

// preprocessed returns a unit after the preprocessor.
func (c *compiler) preprocessed(src device.Source, unit string, watched bool) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	flags := c.flags
	if watched {
		flags = slices.Concat(flags, c.watchedFlags())
	}
	path, err := c.cache.Entry(kernelcache.Key(append(flags, "preprocessed", c.common, unit)...)+".ii", nil, func(path string) error {
		if _, err := writeHeaders(c.cache, c.files); err != nil {
			return err
		}
		return c.call(src, unit, path, slices.Concat([]string{"-E", "-I", c.headers, "-o", path}, flags, []string{"-"}))
	})
	if err != nil {
		return "", err
	}
	text, err := c.cache.Read(filepath.Base(path))
	return string(text), err
}

// build compiles a unit and links it to a library, while it makes the other parts of the library if
// they are not in the cache. folder is that of the unit's headers.
func (c *compiler) build(src device.Source, unit, out, folder string, watched bool) error {
	var parts []string
	var failed error
	made := make(chan struct{})
	c.precompiling.making.Go(func() {
		defer close(made)
		parts, failed = c.parts(watched)
	})
	object := out + ".o"
	defer os.Remove(object)
	if err := c.compile(src, unit, object, append([]string{"-I", folder}, c.unitFlags(watched)...), "-o", object, "-"); err != nil {
		return err
	}
	if <-made; failed != nil {
		return failed
	}
	return c.link(src, out, watched, append([]string{object}, parts...))
}

// unitFlags returns the flags that make an object of a unit.
func (c *compiler) unitFlags(watched bool) []string {
	flags := slices.DeleteFunc(slices.Clone(c.flags), func(f string) bool {
		return f == "-shared" || strings.HasPrefix(f, "-Wl,") || watched && (f == "-g1" || f == "-fsanitize-undefined-trap-on-error")
	})
	if watched {
		flags = append(append(flags, "-g"), c.watchedFlags()...)
	}
	return append(flags, "-c")
}

// link makes a library of objects.
func (c *compiler) link(src device.Source, out string, watched bool, objects []string) error {
	var options []string
	if watched && c.clang { // from 15 on, it calls these functions by names of their own
		options = []string{"--defsym=__tsan_memcpy=memcpy", "--defsym=__tsan_memmove=memmove", "--defsym=__tsan_memset=memset"}
	}
	if c.cxx.Zig {
		return c.linkByZig(src, out, options, objects)
	}
	arguments := append([]string{"-shared", "-o", out}, objects...)
	for _, f := range c.flags {
		if strings.HasPrefix(f, "-Wl,") {
			arguments = append(arguments, f)
		}
	}
	for _, o := range options {
		arguments = append(arguments, "-Wl,"+o)
	}
	return c.call(src, "", out, append(arguments, "-nostdlib", "-lgcc", "-lc", "-lm"))
}

// call runs the compiler on a unit and writes the result to out.
func (c *compiler) call(src device.Source, unit, out string, arguments []string) error {
	return c.wait(src, unit, out, c.cxx.Command(arguments...))
}

// wait runs a command of the compiler on a unit; the command writes to out. If the command has no
// environment, it gets that of this process.
func (c *compiler) wait(src device.Source, unit, out string, cmd *exec.Cmd) error {
	cmd.Stdin = strings.NewReader(unit)
	// if the compiler is killed, its files remain there
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "TMPDIR="+filepath.Dir(out))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err := cmd.Run()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return readLog(src, log.String())
	default:
		return &device.UnavailableError{Kind: "cpu", Why: "the C++ compiler did not start: " + err.Error(),
			Hint: "name another one in SYMMREPL_CXX"}
	}
}
