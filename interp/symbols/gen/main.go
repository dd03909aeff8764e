// Command gen writes the symbol tables of the packages that cells see into the current directory:
// complete tables of the packages listed here, and tables of the parts of the standard library that
// yaegi's tables lack. Given a folder, it writes only the tables of this module's own packages,
// into that folder.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/interp/symbols/missing"
	"github.com/traefik/yaegi/extract"
)

// own are packages of this module, by the file that has their table.
var own = map[string]string{
	"symmem.go":      "github.com/symmrepl/symmrepl/symmem",
	"display.go":     "github.com/symmrepl/symmrepl/display",
	"chart.go":       "github.com/symmrepl/symmrepl/chart",
	"expect.go":      "github.com/symmrepl/symmrepl/symmem/expect",
	"display_dot.go": "github.com/symmrepl/symmrepl/display/dot",
	"compiled.go":    "github.com/symmrepl/symmrepl/interp/generics/compiled",
}

// foreign are packages of other modules, by the file that has their table.
var foreign = map[string]string{
	"gonum_distuv.go":  "gonum.org/v1/gonum/stat/distuv",
	"gonum_floats.go":  "gonum.org/v1/gonum/floats",
	"gonum_mat.go":     "gonum.org/v1/gonum/mat",
	"gonum_stat.go":    "gonum.org/v1/gonum/stat",
	"plot.go":          "gonum.org/v1/plot",
	"plot_draw.go":     "gonum.org/v1/plot/vg/draw",
	"plot_palette.go":  "gonum.org/v1/plot/palette",
	"plot_plotter.go":  "gonum.org/v1/plot/plotter",
	"plot_plotutil.go": "gonum.org/v1/plot/plotutil",
	"plot_vg.go":       "gonum.org/v1/plot/vg",
	"plot_vgimg.go":    "gonum.org/v1/plot/vg/vgimg",
	"plot_vgsvg.go":    "gonum.org/v1/plot/vg/vgsvg",
}

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for file, importPath := range own {
		check(write(filepath.Join(dir, file), importPath, nil))
	}
	if len(os.Args) > 1 {
		return
	}
	for file, importPath := range foreign {
		check(write(file, importPath, nil))
	}
	old, err := filepath.Glob("std_*.go")
	check(err)
	for _, f := range old {
		check(os.Remove(f))
	}
	lacks, err := missing.Names(missing.Base())
	check(err)
	for importPath, names := range lacks {
		check(write("std_"+strings.ReplaceAll(importPath, "/", "_")+".go", importPath, names))
	}
}

// buildConstraint is the build constraint that yaegi puts before tables of the standard library,
// because each release of Go has its own.
var buildConstraint = regexp.MustCompile(`(?m)^//( \+build|go:build) .*\n`)

// write writes the table of a package, or of the given names only.
func write(file, importPath string, names []string) error {
	e := extract.Extractor{Dest: "symbols", License: "//lint:file-ignore SA1019 cells may use what is deprecated"}
	for _, name := range names {
		e.Include = append(e.Include, "^"+name+"$")
	}
	var buf bytes.Buffer
	if _, err := e.Extract(importPath, "", &buf); err != nil {
		return err
	}
	text, err := format.Source(buildConstraint.ReplaceAll(buf.Bytes(), nil))
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
