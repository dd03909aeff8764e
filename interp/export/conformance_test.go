package export

import (
	"errors"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/symbols"

	"github.com/symmrepl/symmrepl/session"
)

// programs reads the programs of interp's conformance suite, "=== name" before each.
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

// pieces cuts a program into one cell of its declarations and one for each of its statements.
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

// Whatever runs in cells becomes a program that checks, also with a cell for each statement.
func TestConformance(t *testing.T) {
	refused, all := 0, 0
	for name, source := range programs(t) {
		if all++; testing.Short() && all%20 != 0 {
			continue
		}
		cells := pieces(t, source)
		if cells == nil {
			refused++
			continue
		}
		var e *Error
		_, err := Program(cells, 1)
		switch {
		case errors.As(err, &e) && strings.HasPrefix(e.Msg, unchecked): // functions that use variables of statements after them
			refused++
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
	if all < 700 || refused > all/50 {
		t.Errorf("%d programs, of which %d do not check in pieces", all, refused)
	}
}
