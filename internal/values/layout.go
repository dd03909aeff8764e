package values

import (
	"strings"
	"unicode/utf8"
)

// Width is the number of columns beyond which values are broken if the width of the screen is not
// known. leastWidth is the smallest width beyond which they are broken.
const (
	Width      = 100
	leastWidth = 20
)

// tabWidth is the number of columns that an indentation counts for.
const tabWidth = 4

// Printed is a printed value: text in Go syntax, such as []int{1, 2}, on one line, except for the
// texts of values that describe themselves.
type Printed struct {
	Text string
	said []span // parts of Text from values that describe themselves, ascending
}

// span is the part text[from:to] of a text.
type span struct{ from, to int }

// Break returns the value unchanged if it fits in width columns; otherwise each element of its
// outermost braces is on its own line, or, if the elements are plain, as many on each line as fit.
// A value's description of itself is never altered. Text that is no value in Go syntax, or has
// several lines, stays unchanged.
func (t Printed) Break(width int) string {
	width = max(width, leastWidth)
	if utf8.RuneCountInString(t.Text) <= width || strings.Contains(t.Text, "\n") {
		return t.Text
	}
	p := &parser{text: t.Text, said: t.said}
	v, ok := p.value()
	if !ok || p.at < len(p.text) {
		return t.Text
	}
	var b strings.Builder
	v.write(&b, 0, width)
	return b.String()
}

// value is a run of text and groups in braces.
type value struct {
	text  string  // the whole value, on one line
	parts []group // groups that can be broken
	keyed bool    // the value has a key
}

// group is the content of a pair of braces, with the text between it and the previous group.
type group struct {
	before   string
	elements []value
	after    string // of the last group: the text after it
}

type parser struct {
	text string
	said []span // spans that are copied unchanged; spans before at are removed
	at   int
}

// value reads up to a comma or closing brace that is not part of the value. ok is false when
// brackets or quotes do not match.
func (p *parser) value() (v value, ok bool) {
	start, from := p.at, p.at
	depth := 0 // of parentheses, brackets and the braces of types
	for p.at < len(p.text) {
		if len(p.said) > 0 && p.said[0].from == p.at {
			p.at, p.said = p.said[0].to, p.said[1:]
			continue
		}
		switch c := p.text[p.at]; {
		case c == '"' || c == '\'' || c == '`':
			if !p.quoted(c) {
				return v, false
			}
			continue
		case c == '(' || c == '[' || c == '{' && (depth > 0 || p.isType(from)):
			depth++
		case c == ')' || c == ']' || c == '}' && depth > 0:
			if depth--; depth < 0 {
				return v, false
			}
		case c == '{':
			g := group{before: p.text[from : p.at+1]}
			p.at++
			if g.elements, ok = p.elements(); !ok {
				return v, false
			}
			from = p.at
			p.at++
			v.parts = append(v.parts, g)
			continue
		case depth == 0 && (c == '}' || c == ',' && strings.HasPrefix(p.text[p.at:], ", ") && start > 0):
			return p.end(v, start, from), true
		case depth == 0 && c == ':' && strings.HasPrefix(p.text[p.at:], ": "):
			v.keyed = true
		}
		p.at++
	}
	return p.end(v, start, from), depth == 0 && start == 0
}

// end completes a value that ends at p.at.
func (p *parser) end(v value, start, from int) value {
	v.text = p.text[start:p.at]
	if n := len(v.parts); n > 0 {
		v.parts[n-1].after = p.text[from:p.at]
	}
	return v
}

// isType reports whether a brace after text[from:at] belongs to a struct or interface type.
func (p *parser) isType(from int) bool {
	before := p.text[from:p.at]
	return strings.HasSuffix(before, "struct") || strings.HasSuffix(before, "struct ") || strings.HasSuffix(before, "interface")
}

// quoted skips a string or character.
func (p *parser) quoted(quote byte) bool {
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\' && quote != '`':
			p.at++
		case c == quote:
			p.at++
			return true
		}
	}
	return false
}

// elements reads to the closing brace, which stays outside.
func (p *parser) elements() (list []value, ok bool) {
	for {
		v, ok := p.value()
		if !ok || p.at >= len(p.text) {
			return nil, false
		}
		if v.text != "" || len(list) > 0 || p.text[p.at] == ',' {
			list = append(list, v)
		}
		if p.text[p.at] == '}' {
			return list, true
		}
		p.at += len(", ")
	}
}

// write writes a value that begins at a depth of indentation, for a screen with the given number of
// columns.
func (v value) write(b *strings.Builder, depth, columns int) {
	if len(v.parts) == 0 || depth*tabWidth+utf8.RuneCountInString(v.text)+1 <= columns {
		b.WriteString(v.text)
		return
	}
	for _, g := range v.parts {
		b.WriteString(g.before)
		if len(g.elements) > 0 {
			g.lines(b, depth+1, columns)
			b.WriteString("\n" + strings.Repeat("\t", depth))
		}
		b.WriteString(g.after)
	}
}

// lines writes the elements of a group.
func (g group) lines(b *strings.Builder, depth, columns int) {
	fill := true
	for _, e := range g.elements {
		fill = fill && len(e.parts) == 0 && !e.keyed
	}
	column := 0 // none on this line yet
	for i, e := range g.elements {
		width := utf8.RuneCountInString(e.text) + 1
		if fill && column > 0 && column+1+width <= columns {
			b.WriteByte(' ')
			column += 1 + width
		} else {
			b.WriteString("\n" + strings.Repeat("\t", depth))
			column = depth*tabWidth + width
		}
		e.write(b, depth, columns)
		if i < len(g.elements)-1 || !strings.HasPrefix(e.text, "…") {
			b.WriteByte(',')
		}
	}
}
