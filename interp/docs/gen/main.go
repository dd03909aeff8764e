// Command gen writes docs.zip, the documentation of all packages that cells see, into the current
// directory. Given an import path, it instead writes the entry for that package to standard output.
package main

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/generics"
	"github.com/symmrepl/symmrepl/interp/symbols"
)

func main() {
	if len(os.Args) > 1 {
		check(writePackage(os.Stdout, os.Args[1], folders(os.Args[1:2])[os.Args[1]]))
		return
	}
	paths := seen()
	dirs := folders(paths)
	out, err := os.Create("docs.zip")
	check(err)
	archive := zip.NewWriter(out)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, p := range paths {
		w, err := archive.Create(p)
		check(err)
		check(writePackage(w, p, dirs[p]))
	}
	check(archive.Close())
	check(out.Close())
}

// seen returns the import paths of the packages that cells see.
func seen() []string {
	var paths []string
	for _, tables := range symbols.Sets() {
		for key := range tables {
			if p := path.Dir(key); p != "." && !strings.HasSuffix(p, "/generics/compiled") && !strings.HasPrefix(p, "github.com/traefik/") {
				paths = append(paths, p)
			}
		}
	}
	paths = append(paths, generics.Paths()...)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// folders asks the go command where the packages' sources are.
func folders(paths []string) map[string]string {
	cmd := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, paths...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(err)
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[p] = dir
	}
	return dirs
}

func writePackage(w io.Writer, importPath, dir string) error {
	p, err := read(importPath, dir)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
