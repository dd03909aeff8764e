//go:build linux && amd64

package cpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// compiler is the host's C++ compiler and the libraries it made, kept in a folder that all ranks and sessions share.
type compiler struct {
	once    sync.Once
	err     error
	path    string
	flags   []string
	folder  string // the cache
	headers string // folder of the headers, within the cache
	seed    []byte // what every key begins with
}

// commonFlags: no system headers, as on the GPU; no aliasing or overflow rules that CUDA code does not keep; what is undefined on the GPU traps.
var commonFlags = []string{
	"-x", "c++", "-std=c++20", "-O2", "-g1", "-fPIC", "-shared", "-w",
	"-nostdinc", "-fno-exceptions", "-fno-rtti", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-strict-aliasing", "-fwrapv", "-fvisibility=hidden",
	"-fsigned-char", "-fstack-clash-protection", "-fno-threadsafe-statics",
	"-fsanitize=shift-exponent,bounds,float-cast-overflow,alignment", "-fsanitize-undefined-trap-on-error",
	"-Wl,-z,defs",
}

// prepare finds the compiler and writes the headers. It is done when the first snippet is compiled.
func (c *compiler) prepare() error {
	c.once.Do(func() { c.err = c.find() })
	return c.err
}

func (c *compiler) find() error {
	path, err := Compiler()
	if err != nil {
		return err
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return &device.UnavailableError{Kind: "cpu", Why: "the C++ compiler " + path + " does not run: " + err.Error(), Hint: "name another one in SYMMREPL_CXX"}
	}
	c.path = path
	c.flags = append(c.flags, commonFlags...)
	if bytes.Contains(version, []byte("clang")) {
		c.flags = append(c.flags, "-ferror-limit=20", "-fno-caret-diagnostics", "-fno-color-diagnostics")
	} else {
		c.flags = append(c.flags, "-fmax-errors=20", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-fno-gnu-unique")
	}
	if c.folder, err = cacheFolder(); err != nil {
		return &device.UnavailableError{Kind: "cpu", Why: "no folder to keep compiled kernels in: " + err.Error(), Hint: "name one in SYMMREPL_CACHE"}
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s %q", path, version, c.flags)
	c.seed = hash.Sum(nil)
	return c.writeHeaders()
}

func cacheFolder() (string, error) {
	folder := os.Getenv("SYMMREPL_CACHE")
	if folder == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(base, "symmrepl")
	}
	return folder, os.MkdirAll(folder, 0o700)
}

// writeHeaders puts the headers into a folder named by their content. The folder appears complete or not at all.
func (c *compiler) writeHeaders() error {
	headers := map[string]string{}
	err := fs.WalkDir(emu.Headers, "include", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(emu.Headers, path)
		headers[strings.TrimPrefix(path, "include/")] = string(text)
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range kernels.Headers() {
		headers[h.Name] = h.Text
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q", headers) // maps print in order of their keys
	sum := hash.Sum(nil)
	c.seed = append(c.seed, sum...)
	c.headers = filepath.Join(c.folder, "cpu-headers-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(c.headers); err == nil {
		return nil
	}
	temp, err := os.MkdirTemp(c.folder, "headers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for name, text := range headers {
		path := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, c.headers); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// library returns the path of the compiled unit. Of all who ask for one unit at the same time, one compiles and the others wait.
func (c *compiler) library(src device.Source, unit string) (string, error) {
	if err := c.prepare(); err != nil {
		return "", err
	}
	hash := sha256.New()
	hash.Write(c.seed)
	hash.Write([]byte(unit))
	path := filepath.Join(c.folder, "cpu-"+hex.EncodeToString(hash.Sum(nil)[:16])+".so")
	if exists(path) {
		return path, nil
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(path) {
		return path, nil
	}
	temp := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(temp)
	if err := c.run(src, unit, temp); err != nil {
		return "", err
	}
	return path, os.Rename(temp, path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// lock waits for the file's lock. Unlocking removes the file; who waited for it finds the work done.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		os.Remove(path)
		f.Close()
	}, nil
}

func (c *compiler) run(src device.Source, unit, out string) error {
	arguments := append([]string{"-I", c.headers, "-o", out}, c.flags...)
	cmd := exec.Command(c.path, append(arguments, "-", "-nostdlib", "-lgcc", "-lc", "-lm")...)
	cmd.Stdin = strings.NewReader(unit)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
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
		return &device.UnavailableError{Kind: "cpu", Why: "the C++ compiler did not start: " + err.Error(), Hint: "name another one in SYMMREPL_CXX"}
	}
}
