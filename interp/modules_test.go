package interp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// moduleProgram is a program of several files, with packages of its module and of one in vendor.
const moduleProgram = "testdata/module"

// printed is the output of the program for one argument, x.
func printed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleProgram, "golden.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestModuleToolchain compares the expected output with that of the program compiled by the Go
// toolchain.
func TestModuleToolchain(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	cmd := exec.Command("go", "run", ".", "x")
	cmd.Dir = moduleProgram
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err == nil || string(out) != printed(t) {
		t.Errorf("%v: it prints\n%s", err, out)
	}
}

// inModule evaluates a cell of a file in the program's folder.
func inModule(in *Interp, source string) session.Result {
	return evaluate(in, session.Cell{ID: 1, Name: filepath.Join(moduleProgram, "cells.go"), Source: source})
}

// TestModulePackages checks that cells of a file import packages of the file's module, and these
// packages embed files of their own folders; that packages are initialised once; and that names of
// the session and of packages do not collide.
func TestModulePackages(t *testing.T) {
	in := open(t, Options{})
	for _, step := range []struct{ source, want string }{
		{"type Item struct{ n int }\nfunc limit() int { return 1000 }\nfirst := 7\nfirst", "7"},
		{"import (\"example.com/shop/report\"; \"example.com/shop/stock\"; \"strings\")\nstock.Log", `[]string{"stock", "price"}`},
		{"strings.Count(report.All(), \"\\n\")", "17"},
		{"stock.Log", `[]string{"stock", "price", "report"}`},
		{"Item{first}, limit()", "Item{n: 7}, 1000"},
		{"it := stock.Item{Name: \"x\"}\nit.SetPrice(4)\n[]any{it, &it}", "[]any{stock.Item{Name: \"x\", price: 4}, &stock.Item{Name: \"x\", price: 4}}"},
		{"func (i Item) Of() stock.Item { return it }\ntype Both struct { Item; stock.Size }\nfmt.Sprintf(\"%v %+v %T\", Item{}.Of(), Both{}, stock.Size{})", `"<x 4> {Item:{n:0} Size:[0 0]} stock.Size"`},
		{"stock.Pairs(map[string]Item{\"z\": {2}})[0].Val", "Item{n: 2}"},
		{"import \"example.com/shop/private/p\"\nstrings.Join(p.Where(), \" \")", `"example.com/shop/private/p.Where p.go:37"`},
		{"f := stock.Price\nf(stock.Gift(\"g\"))", "0"},
		{"import . \"example.com/shop/price\"\nvar tag *Tag = New(\"t\", 2)\ntag.Name + Shout(\"hey\"), len(Small2[:])", ""},
	} {
		r := inModule(in, step.source)
		if step.want == "" {
			if r.Err == nil || r.Err.Error() != moduleProgram+"/cells.go:3:30: undefined: Small2" {
				t.Errorf("%s: %v", step.source, r.Err)
			}
		} else if r.Err != nil || r.Value != step.want {
			t.Errorf("%s: %s, %v; want %s", step.source, r.Value, r.Err, step.want)
		}
	}
}

// TestModuleErrors checks the errors for packages that cannot be imported, including the place in
// their files, and that such packages are read again at the next import.
func TestModuleErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"go.mod":            "// A module.\nmodule \"example.com/m\" // its path\n",
		"types/a.go":        "package types\n\nvar A int\n",
		"types/b.go":        "package types\n\nvar B string = A + 1\n\nvar C = D\n",
		"user/user.go":      "package user\n\nimport _ \"example.com/m/types\"\n",
		"syntax/a.go":       "package syntax\n\nfunc f() {\n\tx :=\n}\n",
		"unused/a.go":       "package unused\n\nimport \"os\"\n\nfunc f() { x := 1 }\n",
		"again/a.go":        "package again\n\ntype T int\n\ntype T string\n",
		"first/a.go":        "package first\n\nimport _ \"example.com/m/second\"\n",
		"second/a.go":       "package second\n\nimport _ \"example.com/m/first\"\n",
		"a/internal/b/b.go": "package b\n\nconst C = 1\n",
		"a/a.go":            "package a\n\nimport \"example.com/m/a/internal/b\"\n\nconst C = b.C\n",
		"program/p.go":      "package main\n\nfunc main() {}\n",
		"cgo/c.go":          "package cgo\n\nimport \"C\"\n",
		"two/a.go":          "package one\n",
		"two/b.go":          "package two\n",
		"assembly/a.go":     "package assembly\n\nfunc f() int\n",
		"keys/a.go":         "package keys\n\nvar a int\n",
		"keys/b.go":         "package keys\n\ntype I interface{ M() }\n\nvar m = map[I]int{}\n",
		"fails/f.go":        "package fails\n\nvar V = div(0)\n\nfunc div(n int) int {\n\treturn 1 / n\n}\n",
		"embeds/e.go":       "package embeds\n\nimport _ \"embed\"\n\n//go:embed no.txt\nvar s string\n",
		"empty/README.md":   "",
	} {
		write(name, text)
	}
	in := open(t, Options{})
	cell := func(source string) string {
		r := evaluate(in, session.Cell{ID: 1, Source: source})
		if r.Err != nil {
			return r.Err.Error() + strings.TrimSuffix("\n"+r.Err.Detail, "\n")
		}
		return r.Value
	}
	for path, want := range map[string]string{
		"m/types":        "types/b.go:3:16: cannot use A + 1 (value of type int) as string value in variable declaration\ntypes/b.go:5:9: undefined: D",
		"m/user":         "types/b.go:3:16: cannot use A + 1 (value of type int) as string value in variable declaration\ntypes/b.go:5:9: undefined: D",
		"m/syntax":       "syntax/a.go:5:1: expected operand, found '}'",
		"m/unused":       "unused/a.go:3:8: \"os\" imported and not used\nunused/a.go:5:12: declared and not used: x",
		"m/again":        "again/a.go:5:6: T redeclared in this block",
		"m/first":        "second/a.go:3:10: could not import example.com/m/first (import cycle: package example.com/m/first imports itself)",
		"m/a/internal/b": `cell[1]:1:8: package example.com/m/a/internal/b is internal to others`,
		"m/program":      `cell[1]:1:8: package example.com/m/program is a program, which cannot be imported`,
		"m/cgo":          `cell[1]:1:8: package example.com/m/cgo: no file of cgo is for this machine, without cgo`,
		"m/two":          `cell[1]:1:8: package example.com/m/two: found packages one (a.go) and two (b.go) in two`,
		"m/assembly":     "assembly/a.go:3:1: missing function body: functions in assembly are for the go command",
		"m/keys":         "keys/b.go:5:9: a map with keys of the interface type keys.I, which would not be compared by the values in them; use any for the keys",
		"m/fails":        "fails/f.go:6:9: panic: runtime error: integer divide by zero",
		"m/embeds":       "embeds/e.go:5:1: //go:embed: pattern no.txt: there is no such file in embeds",
		"m/empty":        `cell[1]:1:8: package example.com/m/empty: there are no files of Go in empty`,
		"m/nothing":      `cell[1]:1:8: package example.com/m/nothing: there is no folder nothing`,
	} {
		for range 2 {
			if got := cell("import \"example.com/" + path + "\""); got != want {
				t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
			}
		}
	}
	if got := cell("import \"example.com/m/a\"\na.C"); got != "1" {
		t.Errorf("a.C is %s", got)
	}
	if got := cell("import \"example.com/m/a/internal/b\""); !strings.HasSuffix(got, "internal to others") {
		t.Errorf("when it is known already: %s", got)
	}
	write("fails/f.go", "package fails\n\nvar V = 5\n")
	if got := cell("import \"example.com/m/fails\"\nfails.V"); got != "5" {
		t.Errorf("when it fails no more: %s", got)
	}
	write("go.mod", "go 1.26\n")
	if got := cell("import \"example.com/m/types\""); got != "cell[1]:1:8: go.mod does not say the path of its module" {
		t.Error(got)
	}
}

// TestModuleProgramOrder checks that the variables and init functions of packages are initialised
// in Go's order.
func TestModuleProgramOrder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod":     "module m\n",
		"log/log.go": "package log\n\nvar Said []string\n\nfunc Say(s string) int {\n\tSaid = append(Said, s)\n\treturn len(Said)\n}\n",
		"b/b.go":     "package b\n\nimport (\n\t\"m/c\"\n\t\"m/log\"\n)\n\nvar x = log.Say(\"b.x\") + y\n\nvar y = log.Say(\"b.y\") + c.V\n\nfunc init() { log.Say(\"b.init\") }\n",
		"b/a.go":     "package b\n\nimport \"m/log\"\n\nfunc init() { log.Say(\"b.init of a.go\") }\n\nvar z, _ = log.Say(\"b.z\"), x\n\nvar _ = log.Say(\"b._\")\n",
		"c/c.go":     "package c\n\nimport \"m/log\"\n\nvar V, w = two()\n\nfunc two() (int, error) { return log.Say(\"c.V\"), nil }\n\nfunc init() { log.Say(\"c.init\") }\n",
		"a/a.go":     "package a\n\nimport \"m/log\"\n\nvar _ = log.Say(\"a\")\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := open(t, Options{})
	got := mustEval(t, in, "import (\n\t_ \"m/b\"\n\t_ \"m/a\"\n\t\"m/log\"\n)\nstrings.Join(log.Said, \" \")")
	if want := `"a c.V c.init b.z b._ b.y b.x b.init of a.go b.init"`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestModuleCompletion checks the completion of names in packages of a module, also of those that
// the cell itself imports; completion must not change the session.
func TestModuleCompletion(t *testing.T) {
	t.Chdir(moduleProgram)
	in := open(t, Options{})
	for range 2 {
		if got := strings.Join(candidatesAt(in, "import \"example.com/shop/stock\"\nstock.P"), " "); got != "Pair Pairs Price Priced" {
			t.Errorf("in the cell that imports it: %s", got)
		}
	}
	for f := range in.checker.Files().Iterate {
		if strings.Contains(f.Name(), "stock.go") {
			t.Errorf("%s stays", f.Name())
		}
	}
	if in.checker.HasModules() {
		t.Error("packages stay")
	}
	mustEval(t, in, "import \"example.com/shop/stock\"\nit := stock.Item{}")
	if got := strings.Join(candidatesAt(in, "it."), " "); got != "Name SetPrice String" {
		t.Errorf("of a value: %s", got)
	}
}
