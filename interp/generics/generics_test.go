package generics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/interp/generics"
)

func TestPaths(t *testing.T) {
	want := []string{"cmp", "errors", "hash/maphash", "iter", "maps", "math/rand/v2", "reflect", "slices", "sync", "sync/atomic", "unique", "weak"}
	got := generics.Paths()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("paths are %q, not %q", got, want)
	}
	if _, ok := generics.Source("math"); ok {
		t.Error("math has a source")
	}
}

// TestForm checks that the sources have the properties that the package documentation states.
func TestForm(t *testing.T) {
	for _, p := range generics.Paths() {
		files, ok := generics.Source(p)
		if !ok {
			t.Errorf("%s has no source", p)
		}
		for name, text := range files {
			f, err := parser.ParseFile(token.NewFileSet(), path.Join(p, name), text, 0)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, decl := range f.Decls {
				switch d := decl.(type) {
				case *ast.GenDecl:
					if d.Tok == token.VAR {
						t.Errorf("%s/%s has a variable at package level", p, name)
					}
				case *ast.FuncDecl:
					if d.Name.Name == "init" {
						t.Errorf("%s/%s has an init function", p, name)
					}
				}
			}
		}
	}
}
