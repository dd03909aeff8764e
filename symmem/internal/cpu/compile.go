//go:build linux && (amd64 || arm64)

package cpu

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/signature"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/ptx"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// snippetFile is the snippet's file name for the compiler. It does not depend on the cell, so that
// the cache finds the same text in another cell; positions are translated when they are shown.
const snippetFile = "snippet.cu"

// Compile checks a snippet, compiles it or finds it in the cache, and loads it.
func (d *cpu) Compile(src device.Source) (device.Module, error) {
	launchable, err := launchableKernels(src)
	if err != nil {
		return nil, err
	}
	m, err := d.compileAs(src, launchable, d.watching.Load())
	if err != nil {
		return nil, err
	}
	return m, nil
}

// launchableKernels checks a snippet and returns the kernels in its text that can be launched: those
// that are no templates.
func launchableKernels(src device.Source) ([]signature.Kernel, error) {
	if err := refuse(src); err != nil {
		return nil, err
	}
	signatures, err := signature.Parse(src.Text, src.Instances...)
	var e *cudalex.Error
	if errors.As(err, &e) {
		return nil, compileError(src, device.Diagnostic{Line: e.Line, Text: e.Msg})
	}
	return slices.DeleteFunc(signatures, func(s signature.Kernel) bool { return s.Template }), err
}

// compileAs compiles a snippet or finds it in the cache, and loads it; watched says whether its
// accesses are watched.
func (d *cpu) compileAs(src device.Source, launchable []signature.Kernel, watched bool) (*module, error) {
	library, launchable, err := d.compiler.present(src, launchable, watched)
	if err != nil {
		return nil, err
	}
	m, err := d.load(library, src, launchable)
	if err != nil {
		return nil, err
	}
	m.signatures = launchable
	if watched {
		m.emu.Watch(emu.WatchedModule{Library: library, Name: src.Name, Line: src.Line, Text: src.Text})
		m.watched = m
	}
	return m, nil
}

// present returns the path of the library of a snippet, and those of its kernels that the
// preprocessor has not left out.
func (c *compiler) present(src device.Source, kernels []signature.Kernel, watched bool) (string, []signature.Kernel, error) {
	library, err := c.compiled(src, kernels, watched)
	if left := declared(kernels, err); len(left) < len(kernels) {
		kernels = left
		library, err = c.compiled(src, kernels, watched)
	}
	return library, kernels, err
}

// compiled returns the path of the library of a snippet.
func (c *compiler) compiled(src device.Source, launchable []signature.Kernel, watched bool) (string, error) {
	unit := translationUnit(src.Text, launchable)
	if err := c.translate(src, &unit, watched); err != nil {
		return "", err
	}
	if watched {
		return c.watchedLibrary(src, unit.String())
	}
	return c.library(src, unit.String())
}

// translate adds the C++ of a unit's inline PTX.
func (c *compiler) translate(src device.Source, u *unit, watched bool) error {
	if !u.assembly {
		return nil
	}
	preprocessed, err := c.preprocessed(src, u.with(""), watched)
	if err != nil {
		return err
	}
	u.definitions = ptx.Definitions(ptx.Statements(preprocessed))
	return nil
}

// tableFile is the compiler's file name for the lines after the snippet.
const tableFile = "the table of kernels"

var undeclared = regexp.MustCompile(`(?m)^` + tableFile + `:(\d+):.*(not declared|not been declared|undeclared|not a member|no member)`)

// declared removes the kernels that the preprocessor left out, which package signature cannot know;
// they are named in the compiler's error.
func declared(kernels []signature.Kernel, err error) []signature.Kernel {
	var refused *device.CompileError
	if !errors.As(err, &refused) {
		return kernels
	}
	missing := map[int]bool{}
	for _, m := range undeclared.FindAllStringSubmatch(refused.Log, -1) {
		missing[number(m[1])-1] = true
	}
	var present []signature.Kernel
	for i, k := range kernels {
		if !missing[i] {
			present = append(present, k)
		}
	}
	return present
}

// load opens a private copy of the library, because a second load of the same file would share its
// variables with the first.
func (d *cpu) load(library string, src device.Source, signatures []signature.Kernel) (*module, error) {
	private, content, err := d.compiler.copyOf(library)
	if err != nil {
		return nil, err
	}
	defer os.Remove(private)
	if !bytes.HasPrefix(content, []byte(elf.ELFMAG)) {
		os.Remove(library) // so that another compiler can make it
		return nil, &device.UnavailableError{Kind: "cpu",
			Why:  "the C++ compiler " + d.compiler.cxx.String() + " ended well but wrote no library",
			Hint: "name another one in SYMMREPL_CXX"}
	}
	if err := refuseConstructors(src, content); err != nil {
		return nil, err
	}
	loaded, err := emu.Load(private)
	if err != nil {
		return nil, loadError(src, err)
	}
	m := &module{device: d, emu: loaded, name: private, library: library, source: src}
	byName := map[string]*emu.Kernel{}
	for _, k := range loaded.Kernels {
		byName[k.Name] = k
	}
	for _, s := range signatures {
		k := newKernel(byName[s.Name], s.Params)
		k.module = m
		m.kernels = append(m.kernels, k)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.modules[private] = m
	return m, nil
}

// copyOf returns a file with the content of a library in the cache, and the content, which was
// checked while it was read.
func (c *compiler) copyOf(library string) (path string, content []byte, err error) {
	if content, err = c.cache.Read(filepath.Base(library)); err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(library), "loading-*.so")
	if err != nil {
		return "", nil, err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", nil, err
	}
	return f.Name(), content, nil
}

// unit is the text that the compiler gets: CUDA's names, the C++ of inline PTX, the snippet, and the
// table of its kernels.
type unit struct {
	before, after string
	assembly      bool   // the snippet has inline PTX
	definitions   string // its C++
}

func (u unit) String() string { return u.with(u.definitions) }

func (u unit) with(definitions string) string {
	if u.assembly {
		definitions = fmt.Sprintf("#line 1 %q\n%s", assemblyFile, cmp.Or(definitions, "#include \"emu_ptx.h\"\n"))
	}
	return u.before + definitions + u.after
}

// assemblyFile is the compiler's file name for the C++ of inline PTX.
const assemblyFile = "inline PTX"

// translationUnit returns the unit of a snippet, without the C++ of its inline PTX.
func translationUnit(text string, kernels []signature.Kernel) unit {
	var b strings.Builder
	b.WriteString(beginning)
	shared := declareDynamic(text)
	b.WriteString(shared.ahead())
	u := unit{before: b.String()}
	text, u.assembly, _ = ptx.Rewrite(shared.text, onCPU)
	b.Reset()
	fmt.Fprintf(&b, "#line 1 %q\n%s\n#line 1 %q\n", snippetFile, text, tableFile)
	if len(kernels) == 0 {
		b.WriteString("EMU_NO_KERNELS\n")
	} else {
		b.WriteString("EMU_TABLE ")
		for _, k := range kernels { // one per line: see declared
			fmt.Fprintf(&b, "EMU_KERNEL(%q, %s)\n", k.Name, k.Name)
		}
		b.WriteString("EMU_MODULE\n")
	}
	u.after = b.String()
	return u
}
