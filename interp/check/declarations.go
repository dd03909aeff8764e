package check

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Declarations returns the text of the cell's declarations, without the bodies of functions but
// with the comments above, by "name" or "Type.Method".
func (c *Cell) Declarations() map[string]string {
	all := map[string]string{}
	for _, d := range c.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if base := ReceiverName(d); base != nil {
				name = base.Name + "." + name
			}
			all[name] = c.declaration(d.Pos(), d.Type.End())
		case *ast.GenDecl:
			for _, s := range d.Specs {
				from, head := s.Pos(), d.Tok.String()+" "
				if !d.Lparen.IsValid() {
					from, head = d.Pos(), ""
				}
				for _, id := range specNames(s) {
					all[id.Name] = head + c.declaration(from, s.End())
				}
			}
		}
	}
	return all
}

// declaration returns a piece of the cell's text together with the line comments directly above it.
func (c *Text) declaration(from, to token.Pos) string {
	start, end := c.Offset(from), c.Offset(to)
	if start < 0 || end < start || end > len(c.cell.Source) {
		return ""
	}
	text := c.cell.Source[start:end]
	above, before := cutLine(c.cell.Source[:start])
	if strings.TrimSpace(before) != "" { // something else precedes it on the same line
		return text
	}
	var comment []string
	for above != "" {
		var line string
		above, line = cutLine(above[:len(above)-1])
		said, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !ok {
			break
		}
		comment = append(comment, strings.TrimPrefix(said, " "))
	}
	slices.Reverse(comment)
	return strings.TrimSpace(text + "\n\n" + strings.Join(comment, "\n"))
}

// cutLine cuts off the last line of a text. The text above it ends with a newline.
func cutLine(text string) (above, line string) {
	i := strings.LastIndexByte(text, '\n') + 1
	return text[:i], text[i:]
}
