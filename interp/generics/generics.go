package generics

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed cmp errors hash iter maps math reflect slices sync unique weak
var sources embed.FS

// Source returns the files, by name, that extend the package of an import path.
func Source(importPath string) (files map[string][]byte, ok bool) {
	entries, err := fs.ReadDir(sources, importPath)
	if err != nil {
		return nil, false
	}
	files = map[string][]byte{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := fs.ReadFile(sources, path.Join(importPath, e.Name()))
		if err != nil {
			return nil, false
		}
		files[e.Name()] = text
	}
	return files, len(files) > 0
}

// Paths returns the import paths that have sources.
func Paths() []string {
	var paths []string
	fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			if dir := path.Dir(name); len(paths) == 0 || paths[len(paths)-1] != dir {
				paths = append(paths, dir)
			}
		}
		return err
	})
	return paths
}
