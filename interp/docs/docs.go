// Package docs has the documentation of the packages that cells see: those of the standard library,
// symmem, and the other tables. It was generated from their sources by go generate, so that neither
// sources nor a Go installation are needed.
package docs

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

//go:generate go run ./gen

// The archive has a file of JSON for each package, named by its import path.
//
//go:embed docs.zip
var archive []byte

// Package is the archive's data about one package.
type Package struct {
	Name    string         // in its package clause
	Text    string         // its doc comment
	Entries []Entry        // of its exported declarations
	Names   map[string]int // the entry by "Name", "Type.Method" or "Type.Field"
}

// Entry is one declaration, which may be a group of constants or variables.
type Entry struct{ Decl, Text string }

// Lookup returns the declaration and the doc comment of an exported name of a package: "Name",
// "Type.Method" or "Type.Field", or "" for the package itself. The first call for a package takes
// some milliseconds.
func Lookup(importPath, name string) (decl, text string, ok bool) {
	p := open(importPath)
	if p == nil {
		return "", "", false
	}
	if name == "" {
		return "package " + p.Name, p.Text, true
	}
	i, ok := p.Names[name]
	if !ok {
		return "", "", false
	}
	return p.Entries[i].Decl, p.Entries[i].Text, true
}

// Names returns the names of a package that Lookup knows, sorted; nil if it does not know the
// package.
func Names(importPath string) []string {
	p := open(importPath)
	if p == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(p.Names))
}

// Packages returns the import paths that Lookup knows, sorted.
func Packages() []string {
	return slices.Sorted(maps.Keys(packages()))
}

func open(importPath string) *Package {
	if read, ok := packages()[importPath]; ok {
		return read()
	}
	return nil
}

// packages reads the archive's directory once. Each package is read at its first use, and kept.
var packages = sync.OnceValue(func() map[string]func() *Package {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("docs: the archive of documentation is damaged: " + err.Error())
	}
	table := map[string]func() *Package{}
	for _, f := range r.File {
		table[f.Name] = sync.OnceValue(func() *Package {
			p := new(Package)
			if err := read(f, p); err != nil {
				panic("docs: the archive of documentation is damaged: " + err.Error())
			}
			if f.Name == symmem {
				p.resolve()
			}
			return p
		})
	}
	return table
})

func read(f *zip.File, p *Package) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return json.NewDecoder(r).Decode(p)
}
