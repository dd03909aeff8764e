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
)

// module is the module of a program: the folder with the go.mod that is the nearest above its files.
type module struct {
	path string // the import path of the package in its folder
	dir  string // absolute
}

// moduleOf returns the module that a folder is in, nil if it is in none.
func moduleOf(dir string) (*module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
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

// modulePath returns the path that the text of a go.mod gives its module, "" if it gives none.
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

// folder returns where the source of a package is: in the module, or below its folder vendor. It returns "" if the package is of neither.
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

// isInternalTo reports whether a package is internal to others than those in the folder from: dir is its own.
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

// shortPath writes the path of a file for messages: from the current folder if it is below it.
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
