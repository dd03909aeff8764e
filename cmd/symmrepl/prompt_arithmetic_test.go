//go:build !race

package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

var updateArithmetic = flag.Bool("update-arithmetic", false, "write the outputs of docs/arithmetic.md again")

// TestArithmeticPage runs the cells of docs/arithmetic.md and compares what they show. With
// -update-arithmetic it writes that into the page.
func TestArithmeticPage(t *testing.T) {
	t.Parallel()
	const page, prompt, mark = "../../docs/arithmetic.md", "symm> ", "-- shown --"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var cells strings.Builder
	for _, line := range strings.Split(string(text), "\n") {
		if cell, ok := strings.CutPrefix(line, prompt); ok {
			cells.WriteString(cell + "\nfmt.Println(\"" + mark + "\")\n")
		}
	}
	cmd := newHome(t, 1).command("-n", "1", "--device", "cpu")
	cmd.Stdin = strings.NewReader(cells.String())
	out, _ := cmd.CombinedOutput() // the last cells fail on purpose
	shown := strings.Split(string(out), mark+"\n")
	var b strings.Builder
	n, within, skip := 0, false, false
	for _, line := range strings.SplitAfter(string(text), "\n") {
		if strings.HasPrefix(line, "```") {
			within, skip = !within, false
		}
		if _, ok := strings.CutPrefix(line, prompt); ok && within {
			b.WriteString(line)
			if n < len(shown) {
				b.WriteString(shown[n])
			}
			n, skip = n+1, true
		} else if !skip {
			b.WriteString(line)
		}
	}
	if got := b.String(); got != string(text) {
		if *updateArithmetic {
			if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/arithmetic.md is not what the program shows now; write it again by: go test ./cmd/symmrepl -run TestArithmeticPage -update-arithmetic\nIt shows\n%s", got)
	}
}

// TestArithmeticPageComplete holds the page to a cell for every operation: each exported method and
// function of the files that have them.
func TestArithmeticPageComplete(t *testing.T) {
	if device() != "cpu" {
		t.Skip("compares files of the repository, which are the same for all devices")
	}
	page, err := os.ReadFile("../../docs/arithmetic.md")
	if err != nil {
		t.Fatal(err)
	}
	var cells strings.Builder
	for _, line := range strings.Split(string(page), "\n") {
		if cell, ok := strings.CutPrefix(line, "symm> "); ok {
			cells.WriteString(cell + "\n")
		}
	}
	const core = "../../symmem/internal/core/"
	n := 0
	for _, name := range []string{"../../symmem/calculate.go", "../../symmem/arithmetic.go", core + "arithmetic.go", core + "statistics.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Name.Name == "String" {
				continue
			}
			call := "." + f.Name.Name + "("
			if of, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && of.X.(*ast.Ident).Name == "Runtime" {
				call = "symm" + call
			}
			if n++; !strings.Contains(cells.String(), call) {
				t.Errorf("docs/arithmetic.md has no cell with %s…)", call)
			}
		}
	}
	if n < 45 {
		t.Errorf("%d operations were found", n)
	}
}
