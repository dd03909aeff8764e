package cubin

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/clib"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// Unit is a compilation unit.
type Unit struct {
	Name        string      // the file name in errors
	Line        int         // the line of Name on which Text starts
	Text        string      // the source
	Headers     [][2]string // name and text of the headers that it may include without a file
	StandIns    [][2]string // the same, used if the toolkit's headers of these names are not installed
	Includes    []string    // names of Headers that are included ahead of Text, and precompiled
	Options     []string    // in addition to the options of all units
	State       string      // a text that changes when the files change that it includes by its Options
	Expressions []string    // kernels whose lowered names are returned if they exist: kernels that are not extern "C"
}

// Binary is a compiled unit.
type Binary struct {
	Cubin   []byte
	Lowered map[string]string // by expression; kernels that the preprocessor left out are missing
}

// Compiler compiles for one architecture. Its methods may be called from any goroutine.
type Compiler struct {
	found   []libs.Library // NVRTC libraries, the preferred one first
	own     string         // the library that the environment names instead of a search
	options []string
	toolkit bool               // the toolkit's headers are installed
	cache   *kernelcache.Cache // nil if there is no folder for the cache

	mu    sync.Mutex
	nvrtc *clib.NVRTC // nil until needed
	heads heads
}

// New returns a compiler for an architecture such as "sm_90", and for a driver that runs code of
// CUDA versions up to the given major version. It makes temporary files in the folder scratch, or in
// os.TempDir if it is "".
func New(host libs.Host, arch string, major int, scratch string) *Compiler {
	kind := libs.NVRTC()
	c := &Compiler{found: prefer(host.Find(kind), major), own: host.Getenv(kind.Env), heads: heads{scratch: scratch}}
	if cache, err := kernelcache.Open("cubin", host.Getenv); err == nil {
		c.cache = cache
	}
	var includes []string
	if len(c.found) > 0 {
		includes = host.Includes(c.found[0].Path)
	}
	c.options, c.toolkit = options(arch, includes), len(includes) > 0
	return c
}

// Note returns a remark about the cache folder, once; it is usually empty.
func (c *Compiler) Note() string {
	if c.cache == nil {
		return ""
	}
	return c.cache.Note()
}

// options returns the options with which all kernels are compiled.
func options(arch string, includes []string) []string {
	list := []string{
		"--gpu-architecture=" + arch, // a real architecture: the result is a cubin
		"--std=c++17",
	}
	for _, dir := range includes {
		list = append(list, "--include-path="+dir)
	}
	return list
}

// prefer moves libraries that are newer than the driver to the end: the driver may not load their
// code.
func prefer(found []libs.Library, major int) []libs.Library {
	var fit, newer []libs.Library
	for _, l := range found {
		if sonameMajor(l.Soname) > major {
			newer = append(newer, l)
		} else {
			fit = append(fit, l)
		}
	}
	return append(fit, newer...)
}

func sonameMajor(soname string) int {
	_, v, _ := strings.Cut(soname, ".so.")
	v, _, _ = strings.Cut(v, ".")
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return n
}

// Describe describes the compiler, without loading it.
func (c *Compiler) Describe() string {
	if len(c.found) == 0 {
		return "no NVRTC"
	}
	l := c.found[0]
	if l.Version == "" {
		return "NVRTC " + strconv.Itoa(sonameMajor(l.Soname)) + " (" + l.Path + ")"
	}
	return "NVRTC " + l.Version + " (" + l.Path + ")"
}

// Compile returns the machine code of a unit, from the cache if it is there. A source that includes
// the user's files by
// #include "file" is compiled every time, since the files may have changed.
func (c *Compiler) Compile(u Unit) (Binary, error) {
	u = c.complete(u)
	if c.cache == nil || includesFiles(u) {
		return c.compile(u)
	}
	var b Binary
	var failed error // failure of the compiler itself
	compiled := false
	read := func(path string) bool {
		data, err := os.ReadFile(path)
		if err == nil {
			b, err = decode(data)
		}
		return err == nil
	}
	write := func(path string) error {
		if b, failed = c.compile(u); failed != nil {
			return failed
		}
		compiled = true
		return os.WriteFile(path, encode(b), 0o600)
	}
	_, err := c.cache.Entry(c.key(u), read, write)
	switch {
	case failed != nil:
		return Binary{}, failed
	case err != nil && !compiled:
		return c.compile(u) // the cache only saves time
	}
	return b, nil
}

// Prepare loads NVRTC and precompiles the headers that a unit includes ahead of its text, which
// makes the first compilation with these headers as quick as later ones.
func (c *Compiler) Prepare(u Unit) {
	if nvrtc, err := c.load(); err == nil {
		c.heads.prepare(nvrtc, c.complete(u), slices.Concat(u.Options, c.options))
	}
}

// Close closes the files of precompiled headers.
func (c *Compiler) Close() { c.heads.close() }

// complete adds the headers that stand in for the toolkit's.
func (c *Compiler) complete(u Unit) Unit {
	if !c.toolkit {
		u.Headers = slices.Concat(u.Headers, u.StandIns)
	}
	return u
}

func (c *Compiler) compile(u Unit) (Binary, error) {
	nvrtc, err := c.load()
	if err != nil {
		return Binary{}, err
	}
	r := clib.Request{Source: source(u, ""), Name: u.Name, Headers: u.Headers, Options: slices.Concat(u.Options, c.options),
		Expressions: u.Expressions}
	code, lowered, log, err := c.heads.compile(nvrtc, u, r)
	if errors.Is(err, clib.ErrSource) {
		wrong := &device.CompileError{Diagnostics: diagnose(log, u), Log: log}
		gone := absent(log)
		if len(gone) == 0 || len(wrong.Diagnostics) > 0 {
			return Binary{}, wrong
		}
		rest := u
		rest.Expressions = slices.DeleteFunc(slices.Clone(u.Expressions), func(e string) bool { return slices.Contains(gone, e) })
		if len(rest.Expressions) == len(u.Expressions) {
			return Binary{}, wrong
		}
		return c.compile(rest)
	}
	if err != nil {
		return Binary{}, err
	}
	b := Binary{Cubin: code, Lowered: make(map[string]string, len(lowered))}
	for i, name := range lowered {
		b.Lowered[u.Expressions[i]] = name
	}
	return b, nil
}

// load opens the first library that can be opened.
func (c *Compiler) load() (clib.NVRTC, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nvrtc != nil {
		return *c.nvrtc, nil
	}
	kind := libs.NVRTC()
	missing := &device.UnavailableError{Kind: "cuda", Why: "NVRTC, which compiles kernels, was not found", Hint: kind.Hint}
	for _, l := range c.found {
		n, err := clib.LoadNVRTC(l.Path, libs.Builtins(l.Path))
		if err == nil {
			c.nvrtc = &n
			return n, nil
		}
		missing.Why = "NVRTC, which compiles kernels, does not load: " + err.Error()
	}
	if c.own != "" && len(c.found) == 0 {
		missing.Why = kind.Env + " is " + c.own + ", which has no NVRTC"
	}
	return clib.NVRTC{}, missing
}

// source is the text that NVRTC sees, with line numbers as in the user's text. after is a line that
// follows the includes.
func source(u Unit, after string) string {
	var b strings.Builder
	b.WriteString(head(u) + after)
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(u.Name)
	b.WriteString("#line " + strconv.Itoa(u.Line) + " \"" + name + "\"\n")
	b.WriteString(u.Text)
	b.WriteByte('\n')
	return b.String()
}

// includesFiles reports whether the unit includes, by quotes, files that are not among its headers.
func includesFiles(u Unit) bool {
	for _, m := range quotedInclude.FindAllStringSubmatch(u.Text, -1) {
		known := false
		for _, h := range u.Headers {
			known = known || h[0] == m[1]
		}
		if !known {
			return true
		}
	}
	return false
}

var quotedInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]*)"`)
