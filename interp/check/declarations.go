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

// maxSource is the largest piece of source, in bytes, that Sources keeps whole.
const maxSource = 16 << 10

// Sources returns the text that defines each name of the cell, with the bodies of functions and the
// comments above, by "name" or "Type.Method". A variable has the statement that defines it.
func (c *Cell) Sources() map[string]string {
	all := map[string]string{}
	add := func(name string, from, to token.Pos) {
		if text := c.source(from, to); text != "" && name != "_" {
			all[name] = text
		}
	}
	for _, d := range c.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if base := ReceiverName(d); base != nil {
				name = base.Name + "." + name
			}
			add(name, d.Pos(), d.End())
		case *ast.GenDecl:
			c.specSources(d, add)
		}
	}
	for _, s := range c.Stmts {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				continue
			}
			for _, e := range s.Lhs {
				if id, ok := e.(*ast.Ident); ok {
					add(id.Name, s.Pos(), s.End())
				}
			}
		case *ast.DeclStmt:
			if d, ok := s.Decl.(*ast.GenDecl); ok {
				c.specSources(d, add)
			}
		}
	}
	return all
}

// specSources adds the sources of a declaration's names: the whole declaration, or one of the parts
// in its parentheses.
func (c *Cell) specSources(d *ast.GenDecl, add func(name string, from, to token.Pos)) {
	for _, s := range d.Specs {
		for _, id := range specNames(s) {
			if d.Lparen.IsValid() {
				add(id.Name, s.Pos(), s.End())
			} else {
				add(id.Name, d.Pos(), d.End())
			}
		}
	}
}

// source returns a piece of the cell's text, from the line comments directly above it on. Of a long
// piece it returns the beginning.
func (c *Text) source(from, to token.Pos) string {
	start, end := c.Offset(from), c.Offset(to)
	if start < 0 || end < start || end > len(c.cell.Source) {
		return ""
	}
	above, before := cutLine(c.cell.Source[:start])
	if strings.TrimSpace(before) == "" {
		for above != "" {
			rest, line := cutLine(above[:len(above)-1])
			if !strings.HasPrefix(strings.TrimSpace(line), "//") {
				break
			}
			start, above = len(rest), rest
		}
	}
	if text := c.cell.Source[start:end]; len(text) <= maxSource {
		return text
	}
	return strings.ToValidUTF8(c.cell.Source[start:start+maxSource], "") + "…"
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
