package check

import (
	"cmp"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// MaxErrors is the maximum number of errors listed for a cell.
const MaxErrors = 10

func (c *Text) syntaxError(errs scanner.ErrorList, header int) *Failure {
	var list []diagnostic
	missing := ""
	for _, e := range errs {
		column, msg := e.Pos.Column, e.Msg
		if e.Pos.Line == 1 {
			column -= header
		}
		line := e.Pos.Line
		if n := strings.Count(c.cell.Source, "\n") + 1; line > n || e.Pos.Offset-header >= len(c.cell.Source) {
			line, column = n, len(c.SourceLine(n))+1
			msg = atEnd.Replace(msg)
			if len(list) > 0 { // it is a consequence of an earlier error
				continue
			}
			missing, _, _ = scanOpen(c.cell.Source)
		}
		list = append(list, diagnostic{line, max(column, 1), msg})
	}
	return &Failure{Err: c.errorOf(session.KindSyntax, list), Missing: missing}
}

// atEnd renames the end of the cell in messages: the parser reports text that was added to parse
// the cell.
var atEnd = strings.NewReplacer("found '}'", "found the end of the cell", "found 'EOF'", "found the end of the cell")

// errorOf returns an error for diagnostics: the first is its message, the others its detail.
func (c *Text) errorOf(kind session.Kind, list []diagnostic) *session.Error {
	slices.SortStableFunc(list, func(a, b diagnostic) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	list = slices.CompactFunc(list, func(a, b diagnostic) bool { return a.line == b.line && a.msg == b.msg })
	at := func(d diagnostic) *session.Error {
		line, column, text := c.cell.Place(d.line, d.column)
		return &session.Error{Kind: kind, Peer: -1, File: c.Name, Line: line, Column: column, Msg: d.msg, Source: text}
	}
	e := at(list[0])
	var others []string
	for i, d := range list[1:] {
		if i+1 == MaxErrors {
			others = append(others, "too many errors")
			break
		}
		others = append(others, at(d).Error())
	}
	e.Detail = strings.Join(others, "\n")
	return e
}

// ErrorAt returns an error at a place of the cell.
func (c *Text) ErrorAt(kind session.Kind, pos token.Pos, msg string) *session.Error {
	line, column, ok := c.Position(pos)
	if !ok {
		return &session.Error{Kind: kind, Peer: -1, File: c.Name, Line: c.Line, Msg: msg, Source: c.SourceLine(1)}
	}
	return c.errorOf(kind, []diagnostic{{line, column, msg}})
}

// ErrorInFile returns an error at a place in a file. The file is one of a package, or the file from
// which the cell's statements are parsed, whose first line begins with additional text.
func (c *Cell) ErrorInFile(kind session.Kind, file string, line, column int, msg string) *session.Error {
	for _, text := range c.texts {
		if text.Name == file {
			return text.errorOf(kind, []diagnostic{{line, column, msg}})
		}
	}
	if line == 1 {
		column = max(column-len(stmtsHeader), 1)
	}
	return c.errorOf(kind, []diagnostic{{line, column, msg}})
}
