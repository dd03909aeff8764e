//go:build linux && (amd64 || arm64)

package cpu

import (
	"slices"

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

// watchedLibrary returns the path of the unit, compiled to be watched.
func (c *compiler) watchedLibrary(src device.Source, unit string) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	return c.watchedUnit(src, unit, c.headers, c.files)
}

// operation returns the path of the library of a unit that includes more headers than snippets do.
func (c *compiler) operation(src device.Source, unit string, watched bool) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	headers := slices.Concat(c.files, kernels.BuiltinHeaders())
	folder := c.cache.Path(headersName(headers))
	if watched {
		return c.watchedUnit(src, unit, folder, headers)
	}
	return c.unit(src, unit, folder, headers)
}

// watchedUnit returns the path of a unit, compiled to be watched; folder is that of its headers.
func (c *compiler) watchedUnit(src device.Source, unit, folder string, headers []kernels.File) (string, error) {
	return c.cache.Entry(kernelcache.Key(append(c.watchedFlags(), c.common, folder, unit)...)+".so", nil, func(path string) error {
		if _, err := writeHeaders(c.cache, headers); err != nil {
			return err
		}
		return c.build(src, unit, path, folder, true)
	})
}

// prepareWatching makes in the background what the first watched kernel needs.
func (c *compiler) prepareWatching() {
	c.precompiling.making.Go(func() {
		if c.prepare() == nil {
			c.parts(true)
		}
	}) // the kernel reports an error
}
