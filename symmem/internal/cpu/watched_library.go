//go:build linux && (amd64 || arm64)

package cpu

import (
	"os"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// watchedFlags makes the compiler call the functions of emu_hooks.h before every access, and record
// columns. Code that the compiler would otherwise inline is called, because these calls are
// watched, too.
func (c *compiler) watchedFlags() []string {
	watched := []string{"-fsanitize=thread", "-DSYMM_SANITIZE=1", "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"}
	// Identical lines stay separate, so that each can be named.
	if c.clang {
		for _, option := range []string{
			"tsan-distinguish-volatile=1", "tsan-instrument-func-entry-exit=0", "tsan-instrument-read-before-write=1",
			"hoist-common-insts=0", "sink-common-insts=0", "enable-tail-merge=0", "inline-threshold=100000",
		} {
			watched = append(watched, "-mllvm", "-"+option)
		}
		return watched
	}
	// Without -O1 and -fno-var-tracking a compilation takes twice the time.
	watched = append(watched, "-O1", "-fno-var-tracking", "-fno-crossjumping", "-fno-tree-tail-merge")
	return append(watched, "--param", "tsan-distinguish-volatile=1", "--param", "tsan-instrument-func-entry-exit=0")
}

// objectFlags are the flags for a unit that is linked later, without debugging information.
func (c *compiler) objectFlags() []string {
	flags := slices.DeleteFunc(slices.Clone(c.flags),
		func(f string) bool { return f == "-shared" || f == "-g1" || strings.HasPrefix(f, "-Wl,") })
	return append(flags, "-c")
}

// watchedLibrary returns the path of the unit, compiled to be watched.
func (c *compiler) watchedLibrary(src device.Source, unit string) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	return c.watchedUnit(src, unit, c.headers, c.files)
}

// watchedOperation is watchedLibrary for a unit that includes more headers than snippets do.
func (c *compiler) watchedOperation(src device.Source, unit string) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	headers := slices.Concat(c.files, kernels.BuiltinHeaders())
	return c.watchedUnit(src, unit, c.cache.Path(headersName(headers)), headers)
}

// watchedUnit returns the path of a unit, compiled to be watched; folder is that of its headers.
func (c *compiler) watchedUnit(src device.Source, unit, folder string, headers []kernels.File) (string, error) {
	return c.cache.Entry(kernelcache.Key(append(c.watchedFlags(), c.common, folder, unit)...)+".so", nil, func(path string) error {
		if _, err := writeHeaders(c.cache, headers); err != nil {
			return err
		}
		object := path + ".o"
		defer os.Remove(object)
		told := slices.DeleteFunc(c.objectFlags(), func(f string) bool { return f == "-fsanitize-undefined-trap-on-error" })
		if err := c.compile(src, unit, object, slices.Concat([]string{"-I", folder}, told, []string{"-g"}, c.watchedFlags()),
			"-o", object, "-"); err != nil {
			return err
		}
		hooks, err := c.hooks()
		if err != nil {
			return err
		}
		var options []string
		if c.clang { // from 15 on, it calls these functions by names of their own
			options = []string{"--defsym=__tsan_memcpy=memcpy", "--defsym=__tsan_memmove=memmove", "--defsym=__tsan_memset=memset"}
		}
		return c.link(src, folder, path, options, object, hooks)
	})
}

// prepareWatching makes in the background what the first watched kernel needs.
func (c *compiler) prepareWatching() {
	c.precompiling.making.Go(func() {
		if c.prepare() == nil {
			c.hooks()
		}
	}) // the kernel reports an error
}

// hooks returns the path of the compiled functions that watched kernels call.
func (c *compiler) hooks() (string, error) {
	const unit = "#include \"emu_hooks.h\"\n"
	flags := append(c.objectFlags(), "-fno-builtin", "-I", c.headers)
	return c.cache.Entry("hooks-"+kernelcache.Key(append(flags, c.common)...)+".o", nil, func(path string) error {
		return c.call(device.Source{Name: "emu_hooks.h", Line: 1}, unit, path, append(flags, "-o", path, "-"))
	})
}
