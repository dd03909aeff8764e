package run

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/executions"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// TestHelpers checks that the table has a function for every helper in contract/helpers.go, and
// that the methods named there exist.
func TestHelpers(t *testing.T) {
	rt, err := New(nil, nil, 1<<30, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "contract/helpers.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	table := rt.helpers()
	named := 0
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			s := s.(*ast.ValueSpec)
			name, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if s.Type == nil {
				_, ofDefers := reflect.TypeFor[*stacks.Defers]().MethodByName(name)
				if _, ofSelect := reflect.TypeFor[*executions.Selection]().MethodByName(name); !ofDefers && !ofSelect {
					t.Errorf("nothing has the method %s", name)
				}
				continue
			}
			named++
			if table[contract.Helper(name)] == nil {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
	ordered := 0
	for name, function := range table {
		if reflect.TypeOf(function).Kind() != reflect.Func {
			t.Errorf("%s is a %T", name, function)
		}
		if _, typ, _ := strings.Cut(string(name), "#"); typ != "" { // min#int
			ordered++
		}
	}
	if named+ordered != len(table) {
		t.Errorf("helpers.go names %d helpers and %d of ordered types, and %d are in the table", named, ordered, len(table))
	}
}
