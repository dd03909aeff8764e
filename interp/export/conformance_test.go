package export

import (
	"errors"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/recorded"
	"github.com/symmrepl/symmrepl/interp/symbols"

	"github.com/symmrepl/symmrepl/session"
)

// programs reads the programs of interp's conformance suite, each after a line "=== name".
func programs(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../testdata/conformance/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
			name, source, _ := strings.Cut(part, "\n")
			all[strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name] = source
		}
	}
	return all
}

// pieces splits a program into one cell with its declarations and one for each statement.
func pieces(t *testing.T, source string) []session.Cell {
	checker, err := check.New(token.NewFileSet(), symbols.Tables(), nil)
	if err != nil {
		t.Fatal(err)
	}
	syntax, failed := checker.Parse(session.Cell{ID: 1, Source: source})
	if failed != nil {
		return nil
	}
	c, failed := checker.Check(syntax)
	if failed != nil {
		return nil
	}
	var decls strings.Builder
	for _, place := range c.Outside() {
		decls.WriteString(source[place[0]:place[1]] + "\n")
	}
	cells := []session.Cell{{ID: 1, Source: decls.String()}}
	for i, s := range c.Stmts {
		text := source[c.Offset(s.Pos()):c.Offset(s.End())]
		if _, isDecl := s.(*ast.DeclStmt); isDecl && !strings.HasPrefix(text, "var") {
			text = "var " + text
		}
		cells = append(cells, session.Cell{ID: 2 + i, Source: text})
	}
	return cells
}

// notInPieces lists the programs that do not check with one cell per statement, because their
// functions use variables of later statements.
var notInPieces = []string{
	"12-variables/package variables used by functions",
	"12-variables/package variables without a value",
	"16-declarations/init functions run before statements",
	"16-declarations/results do not appear before the call ends",
	"16-declarations/what calls of functions leave behind is not changed by later calls",
	"41-defer-and-panics/error values compared",
	"52-range-func/iterator kept after the loop",
	"53-defer-panic/deferred function by name recovers",
	"54-goroutines-channels/go with methods and several results",
	"58-standard-library/errors with own Is and As methods",
	"60-packages-and-initialisation/a function variable set by init",
	"60-packages-and-initialisation/init functions see package variables",
	"60-packages-and-initialisation/initialisation happens once",
	"60-packages-and-initialisation/initialisation through functions and methods",
	"60-packages-and-initialisation/package variables are initialised in order of their dependencies",
	"77-combinations/recover by function variables",
	"83-values-become-interfaces/nil interfaces in loops",
	"84-more-programs-of-sessions/order of operands and calls",
	"87-third-look/constants that are lengths of variables",
	"87-third-look/several results, to places that are found",
	"88-fourth-look/what print writes",
}

// TestConformance checks that everything that runs in cells becomes a program that checks, also
// with one cell per statement.
func TestConformance(t *testing.T) {
	var refused []string
	all := 0
	for name, source := range programs(t) {
		if all++; testing.Short() && all%20 != 0 {
			continue
		}
		cells := pieces(t, source)
		if cells == nil {
			refused = append(refused, name)
			continue
		}
		var e *recorded.Error
		_, err := Program(cells, 1)
		switch {
		// functions that use variables of later statements
		case errors.As(err, &e) && strings.HasPrefix(e.Msg, recorded.Unchecked):
			refused = append(refused, name)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
	slices.Sort(refused)
	if all < 700 || !testing.Short() && !slices.Equal(refused, notInPieces) {
		t.Errorf("%d programs, of which these do not check in pieces: %q, want %q", all, refused, notInPieces)
	}
}
