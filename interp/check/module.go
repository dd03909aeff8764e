package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

// module is the module of a program: the nearest folder above its files that has a go.mod.
type module struct {
	path string // import path of the package in this folder
	dir  string // absolute
}

// moduleOf returns the module of a folder, or nil if there is none.
func moduleOf(dir string) (*module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		text, err := wholefile.Read(filepath.Join(dir, "go.mod"), "a file of Go", session.MaxSource)
		switch {
		case err == nil:
			name := modulePath(string(text))
			if name == "" {
				return nil, fmt.Errorf("%s does not say the path of its module", shortPath(filepath.Join(dir, "go.mod")))
			}
			return &module{name, dir}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil, nil
		}
		dir = above
	}
}

// modulePath returns the module path in the text of a go.mod, or "" if there is none.
func modulePath(text string) string {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		if len(words) != 2 || words[0] != "module" {
			continue
		}
		if name, err := strconv.Unquote(words[1]); err == nil {
			return name
		}
		return words[1]
	}
	return ""
}

// folder returns the folder with the source of a package: in the module, or in its folder vendor.
// It returns "" if the package is in neither.
func (m *module) folder(importPath string) string {
	if importPath == m.path {
		return m.dir
	}
	if rest, ok := strings.CutPrefix(importPath, m.path+"/"); ok {
		return filepath.Join(m.dir, filepath.FromSlash(rest))
	}
	dir := filepath.Join(m.dir, "vendor", filepath.FromSlash(importPath))
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return ""
}

// isInternalTo reports whether a package in folder dir is internal and may not be imported by files
// in folder from.
func isInternalTo(importPath, dir, from string) bool {
	if path.Base(importPath) != "internal" && !strings.Contains(importPath, "/internal/") && !strings.HasPrefix(importPath, "internal/") {
		return false
	}
	parts := strings.Split(filepath.ToSlash(dir), "/")
	for i := len(parts) - 1; i > 0; i-- {
		if parts[i] == "internal" {
			owner := filepath.FromSlash(strings.Join(parts[:i], "/"))
			from, err := filepath.Abs(from)
			return err != nil || from != owner && !strings.HasPrefix(from, owner+string(filepath.Separator))
		}
	}
	return false
}

// shortPath returns the path of a file for messages, relative to the current folder if the file is
// below it.
func shortPath(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
