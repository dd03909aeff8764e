//go:build linux && (amd64 || arm64)

package cpu

import (
	"path/filepath"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// parts returns the paths of the objects that every module is linked with, behind its own.
func (c *compiler) parts(watched bool) (objects []string, err error) {
	sources := []func(bool) (string, error){c.functions, c.sharedMemory}
	if watched {
		sources = append([]func(bool) (string, error){c.hooks}, sources...)
	}
	for _, source := range sources {
		object, err := source(watched)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// hooks returns the path of the functions that watched kernels call.
func (c *compiler) hooks(bool) (string, error) {
	return c.part("hooks", "emu_hooks.h", append(c.unitFlags(false), "-g0", "-fno-builtin"))
}

// functions returns the path of those that are compiled once for all modules: see emu_once.h.
func (c *compiler) functions(watched bool) (string, error) {
	return c.part("once", "emu_once.cpp", append(c.unitFlags(watched), "-g0"))
}

// sharedMemory returns the path of the functions of shared memory.
func (c *compiler) sharedMemory(bool) (string, error) {
	return c.part("shared", "emu_shared.S", []string{"-c", "-x", "assembler-with-cpp"})
}

// part returns the path of the object that flags make of a file among the headers.
func (c *compiler) part(name, file string, flags []string) (string, error) {
	return c.cache.Entry(name+"-"+kernelcache.Key(append(flags, c.common)...)+".o", nil, func(path string) error {
		if _, err := writeHeaders(c.cache, c.files); err != nil {
			return err
		}
		return c.call(device.Source{Name: file, Line: 1}, "", path,
			slices.Concat(flags, []string{"-I", c.headers, "-o", path, filepath.Join(c.headers, file)}))
	})
}
