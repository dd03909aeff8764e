package checking

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/casefile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/kerneltext"
	"github.com/symmrepl/symmrepl/internal/wholefile"
)

// Source is a file with cases.
type Source struct {
	Name  string
	Cases []casefile.Case
	kernels
	cells []cellfile.Cell // of a file of cells, which is one case
	lines []string        // of the file
	title string          // the name of the text in positions, before place gives them their files
}

// kernels is the text that a source's cases compile.
type kernels struct {
	text  kerneltext.Text
	named []string // instances of templates that the cases launch
}

// cellsSuffix ends the names of files of cells that are cases.
const cellsSuffix = "_symm.go"

// extensions holds the ends of the names of files in which Find looks for cases.
var extensions = []string{".cu", ".cuh", ".py"}

// Find returns the sources below paths, sorted by name. A file that is named must have cases; in a
// folder the files without any are left out, as are folders whose names begin with a dot. Symbolic
// links in folders are not followed. A file that cannot be read, or has a mistake in a case, is an
// error: all of them are joined. options returns the compiler's options for a file.
func Find(paths []string, options func(name string) kerneltext.Options) ([]*Source, error) {
	names := map[string]bool{}
	var wrong []error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if !info.IsDir() {
			names[filepath.Clean(path)] = true
			continue
		}
		wrong = append(wrong, below(path, names)...)
	}
	var sources []*Source
	for name, given := range names {
		s, err := read(name, given, options(name))
		if err != nil {
			wrong = append(wrong, err)
		}
		if s != nil {
			sources = append(sources, s)
		}
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, joined(wrong)
	}
	slices.SortFunc(sources, func(a, b *Source) int { return strings.Compare(a.Name, b.Name) })
	return sources, nil
}

// mostErrors is the number of mistakes that are told at once.
const mostErrors = 20

// joined returns errors as one, whose lines they are.
func joined(wrong []error) error {
	if more := len(wrong) - mostErrors; more > 0 {
		wrong = append(wrong[:mostErrors:mostErrors], fmt.Errorf("and %d more", more))
	}
	return Mistakes(wrong)
}

// Mistakes are errors in files with cases.
type Mistakes []error

// Error returns all of them, a line each.
func (m Mistakes) Error() string {
	var lines []string
	for _, err := range m {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors.
func (m Mistakes) Unwrap() []error { return m }

// below adds the files of a folder that may have cases. They were not named by the user.
func below(folder string, names map[string]bool) (wrong []error) {
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			wrong = append(wrong, err)
			return nil
		case d.IsDir():
			if path != folder && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && (slices.Contains(extensions, filepath.Ext(path)) || strings.HasSuffix(path, cellsSuffix)):
			if path = filepath.Clean(path); !names[path] {
				names[path] = false
			}
		}
		return nil
	})
	return wrong
}

// read reads a file. Without cases it is nil, or an error if the user has named it.
func read(name string, given bool, o kerneltext.Options) (*Source, error) {
	text, err := wholefile.Read(name, "a file with cases", kerneltext.MaxSize)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: name, lines: strings.Split(string(text), "\n"), title: "kernels of " + name}
	if strings.HasSuffix(name, cellsSuffix) {
		s.cells = cellfile.Parse(string(text))
		s.Cases = []casefile.Case{{Name: strings.TrimSuffix(filepath.Base(name), cellsSuffix), Line: 1}}
		return s, nil
	}
	var f *casefile.File
	if casefile.Marked(string(text)) {
		if f, err = casefile.Read(name, string(text)); err != nil {
			return nil, err
		}
	}
	if f == nil || len(f.Cases) == 0 {
		if given {
			return nil, fmt.Errorf("%s has no cases: a case is a comment that begins with // symm: test NAME", name)
		}
		return nil, nil
	}
	s.Cases = f.Cases
	if s.text, err = kerneltext.Of(name, f.Text, o); err != nil {
		return nil, err
	}
	for _, c := range s.Cases {
		for _, step := range c.Steps {
			if l, ok := step.(casefile.Launch); ok && strings.Contains(l.Kernel, "<") && !slices.Contains(s.named, l.Kernel) {
				s.named = append(s.named, l.Kernel)
			}
		}
	}
	return s, nil
}
