package symmrepl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lockRow matches a row of a table of docs/locks.md, from its first cell: the folder of the
// package, and the lock as a type and its field, or a function and its variable.
var lockRow = regexp.MustCompile("(?m)^\\| `([a-z0-9_/]+)` \\| `([A-Za-z0-9_]+\\.[A-Za-z0-9_]+)` \\|")

// TestLocks holds that docs/locks.md has every mutex of the program, and nothing else.
func TestLocks(t *testing.T) {
	text, err := os.ReadFile("docs/locks.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range lockRow.FindAllStringSubmatch(string(text), -1) {
		name := row[1] + ": " + row[2]
		if listed[name] {
			t.Errorf("docs/locks.md has %s twice", name)
		}
		listed[name] = true
	}
	found := map[string]bool{}
	for _, file := range sources(t) {
		if strings.HasSuffix(path.Dir(file), "test") { // a package that helps tests
			continue
		}
		for _, lock := range locksOf(t, file) {
			name := path.Dir(file) + ": " + lock
			if found[name] {
				t.Errorf("there are two of %s: one needs another name", name)
			}
			found[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !listed[name] {
			t.Errorf("docs/locks.md lacks %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !found[name] {
			t.Errorf("docs/locks.md has %s, which is not there", name)
		}
	}
}

// locksOf lists the mutexes that a file declares, each by the type or function that it belongs to.
func locksOf(t *testing.T, name string) (locks []string) {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		owner := "package"
		if fn, ok := d.(*ast.FuncDecl); ok {
			owner = fn.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				owner = n.Name.Name
			case *ast.Field:
				if kind := mutex(n.Type); kind != "" && len(n.Names) == 0 {
					locks = append(locks, owner+"."+kind)
				} else if kind != "" {
					locks = append(locks, named(owner, n.Names)...)
				}
			case *ast.ValueSpec:
				if mutex(n.Type) != "" {
					locks = append(locks, named(owner, n.Names)...)
				}
			}
			return true
		})
	}
	return locks
}

func named(owner string, names []*ast.Ident) (list []string) {
	for _, n := range names {
		list = append(list, owner+"."+n.Name)
	}
	return list
}

// mutex returns the kind of mutex of a type, "" if it is none. A pointer to a mutex is not one.
func mutex(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if p, ok := s.X.(*ast.Ident); ok && p.Name == "sync" && (s.Sel.Name == "Mutex" || s.Sel.Name == "RWMutex") {
		return s.Sel.Name
	}
	return ""
}
