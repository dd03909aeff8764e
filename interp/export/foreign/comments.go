package foreign

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
)

// comment is a comment of a cell.
type comment struct {
	at, end int      // in the source
	lines   []string // without the marks of the comment
}

// commentsOf returns the comments of a cell.
func commentsOf(source string) (list []comment) {
	for t := range gotokens.WithComments(source) {
		if t.Kind != token.COMMENT {
			continue
		}
		c := comment{at: t.At, end: t.At + len(t.Text)}
		for line := range strings.Lines(strings.TrimSuffix(strings.TrimPrefix(t.Text, "/*"), "*/")) {
			c.lines = append(c.lines, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")))
		}
		list = append(list, c)
	}
	return list
}

// commentsBefore writes the comments before an offset that have not been written.
func (m *module) commentsBefore(at int) {
	for len(m.comments) > 0 && m.comments[0].at < at {
		for _, line := range m.comments[0].lines {
			m.line(strings.TrimRight(m.dialect.comment+" "+line, " "))
		}
		m.comments = m.comments[1:]
	}
}

// withComments writes a statement or declaration with the comments before it and at the end of its
// line. Those inside of it that it has not written are dropped.
func (m *module) withComments(n ast.Node, write func()) {
	from, to := m.cell.Offset(n.Pos()), m.cell.Offset(n.End())
	m.commentsBefore(from)
	start := len(m.out)
	write()
	for len(m.comments) > 0 && m.comments[0].at < to {
		m.comments = m.comments[1:]
	}
	if len(m.comments) == 0 || len(m.out) == start {
		return
	}
	c, last := m.comments[0], len(m.out)-1
	if strings.Contains(m.cell.recorded.Source[to:c.at], "\n") || len(c.lines) != 1 ||
		strings.HasPrefix(strings.TrimSpace(m.out[last]), m.dialect.comment) {
		return
	}
	m.out[last] += "  " + m.dialect.comment + " " + c.lines[0]
	m.comments = m.comments[1:]
}
