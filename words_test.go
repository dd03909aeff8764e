package symmrepl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// noContract matches the beginning of a comment that gives a declaration a verb without an object: the reader
// has to find the noun behind "what", "how" or "where". "Reports whether" is the form for a truth value.
var noContract = regexp.MustCompile(`^(?:Package )?[\w.]+(?:(?:,| and| or) [\w.]+)* (?:` +
	`(?:is|are|was|were|has|have|holds?|keeps?|knows?|says?|tells?|shows?|names?|gives?|lists?|returns?|reports?) ` +
	`(?:what|who|whom|whose|how|where|why|which|(?:for|by|about) (?:what|whom|how))\b` +
	`|(?:is|are) (?:whether|(?:that|those) (?:of|which|who))\b` +
	`|(?:knows?|says?|tells?|shows?) (?:whether|that)\b)`)

// TestWords holds that comments of declarations say what these return, report or hold, as the page on
// wording asks.
func TestWords(t *testing.T) {
	files, found := token.NewFileSet(), 0
	for _, name := range tree(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // cells, which have no package clause; the compiler reads all other files
		}
		for _, doc := range declared(file) {
			found++
			text := strings.Join(strings.Fields(doc.Text()), " ")
			if opening := noContract.FindString(text); opening != "" {
				t.Errorf("%s: write what it returns, reports or holds, with a noun, in place of %q (docs/notes/wording.md)",
					files.Position(doc.Pos()), opening)
			}
		}
	}
	if found < 10000 {
		t.Errorf("declarations have %d comments; the walk misses most", found)
	}
}

// TestNoContract checks the expression of TestWords by comments that it must refuse, and by comments that
// are right.
func TestNoContract(t *testing.T) {
	for text, want := range map[string]bool{
		"mapping is what a group knows of a tensor.":                  true,
		"beginning says where the output of a run begins.":            true,
		"operands has what a call needs to know of the caller.":       true,
		"Joining says that this process replaces an earlier one.":     true,
		"spareFor is for how many tensors of the group a spare waits": true,
		"tops returns where each row begins.":                         true,
		"ClaimedAt and ClaimedBytes are where the words lie.":         true,
		"Package waits says what kernels wait for.":                   true,
		"colour is that of a mark.":                                   true,
		"Overlap reports whether the kernel calls symm::begin.":       false,
		"Wait returns when the last rank has been answered.":          false,
		"Layout describes how a map reads its operands.":              false,
		"tellStopped tells the front end that the cell stands.":       false,
		"also are the names by which other headers include it":        false,
	} {
		if opening := noContract.FindString(text); (opening != "") != want {
			t.Errorf("%q: the expression finds %q, want a finding: %v", text, opening, want)
		}
	}
}

// declared returns the comments of a file that belong to a declaration: to the package, a function, a type, a
// constant, a variable, or a field.
func declared(file *ast.File) (docs []*ast.CommentGroup) {
	add := func(groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil {
				docs = append(docs, g)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.File:
			add(n.Doc)
		case *ast.FuncDecl:
			add(n.Doc)
		case *ast.GenDecl:
			add(n.Doc)
		case *ast.TypeSpec:
			add(n.Doc, n.Comment)
		case *ast.ValueSpec:
			add(n.Doc, n.Comment)
		case *ast.Field:
			add(n.Doc, n.Comment)
		}
		return true
	})
	return docs
}
