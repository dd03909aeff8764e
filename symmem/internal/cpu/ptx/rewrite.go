package ptx

import (
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// separator stands between the template and the constraints in the string that identifies an asm
// statement. PTX does not contain it.
const separator = "\v"

// Malformed is an asm statement that Rewrite cannot read.
type Malformed struct {
	Line, Column int // 1-based
	Why          string
}

// Rewrite replaces the asm statements of a text by calls, and reports whether there were any. A
// statement that it cannot read remains. known evaluates conditions: text that the preprocessor
// certainly excludes remains, too.
func Rewrite(text string, known cudalex.Known) (rewritten string, found bool, malformed []Malformed) {
	r := rewriter{text: text}
	r.rewrite(cudalex.Pieces(text, known))
	return r.out.String(), r.found, r.malformed
}

type rewriter struct {
	text      string
	out       strings.Builder
	found     bool
	malformed []Malformed
}

// rewrite writes the pieces with their asm statements replaced.
func (r *rewriter) rewrite(pieces []cudalex.Piece) {
	for i := 0; i < len(pieces); {
		p := pieces[i]
		if p.Kind == cudalex.Directive {
			if inside := p.Inside(); isDefine(inside) {
				r.rewrite(inside)
			} else {
				r.out.WriteString(p.Text)
			}
			i++
			continue
		}
		if s, n := r.statement(pieces[i:]); n > 0 {
			r.found = true
			s.write(&r.out)
			i += n
			continue
		}
		r.out.WriteString(p.Text)
		i++
	}
}

func isDefine(inside []cudalex.Piece) bool {
	for _, p := range inside[1:] {
		if p.Kind == cudalex.Word {
			return p.Text == "define"
		}
		if p.Kind != cudalex.Space && p.Kind != cudalex.Comment {
			return false
		}
	}
	return false
}

// statement is an asm statement, split at colons and commas.
type statement struct {
	template    []cudalex.Piece
	constraints [][]cudalex.Piece // without spaces
	rest        []cudalex.Piece   // all after the template: the operands' expressions and the spaces between them
}

// statement reads the asm statement with which the pieces begin, and returns their number; 0 if
// there is none or it cannot be read.
func (r *rewriter) statement(pieces []cudalex.Piece) (statement, int) {
	none := statement{}
	if first := pieces[0]; first.Kind != cudalex.Word || first.Text != "asm" && first.Text != "__asm__" && first.Text != "__asm" {
		return none, 0
	}
	open := 1
	for ; open < len(pieces) && !is(pieces[open], "("); open++ {
		switch p := pieces[open]; p.Kind {
		case cudalex.Space, cudalex.Comment:
		case cudalex.Word:
			if p.Text == "goto" {
				return none, r.bad(p, jumps)
			}
			if p.Text != "volatile" && p.Text != "__volatile__" && p.Text != "__volatile" {
				return none, 0
			}
		default:
			return none, 0
		}
	}
	end := closing(pieces, open)
	if end < 0 {
		return none, 0 // the compiler reports it
	}
	var s statement
	section := 0 // the template, outputs, inputs, clobbers
	for i := open + 1; i < end; i++ {
		p := pieces[i]
		switch {
		case p.Kind == cudalex.Directive || p.Kind == cudalex.Excluded:
			return none, r.bad(p, "a preprocessor line inside an asm statement cannot be read on the cpu device: put whole statements behind #if")
		case is(p, ":"):
			section++
		case is(p, "::"):
			section += 2
		case section == 0:
			s.template = append(s.template, p)
		case p.Kind == cudalex.Space || p.Kind == cudalex.Comment:
			s.rest = append(s.rest, p)
		case is(p, "["), is(p, "[["):
			if section < 3 {
				return none, r.bad(p, "operands of inline PTX have no names: write %0, %1 and so on")
			}
		case section > 3:
			return none, r.bad(p, jumps)
		case section == 3:
		case is(p, "("):
			last := i + closing(pieces[i:], 0)
			if len(s.rest) > 0 && len(s.constraints) > 1 {
				s.rest = append(s.rest, cudalex.Piece{Kind: cudalex.Punct, Text: ","})
			}
			s.rest = append(s.rest, pieces[i:last+1]...)
			i = last
			s.constraints = append(s.constraints, nil) // the next operand's
		case is(p, ","):
		default:
			if len(s.constraints) == 0 {
				s.constraints = append(s.constraints, nil)
			}
			last := &s.constraints[len(s.constraints)-1]
			*last = append(*last, p)
		}
	}
	if n := len(s.constraints); n > 0 && s.constraints[n-1] == nil {
		s.constraints = s.constraints[:n-1]
	}
	return s, end + 1
}

// bad records an asm statement that cannot be read, at a piece of it.
func (r *rewriter) bad(p cudalex.Piece, why string) int {
	column := p.At - strings.LastIndexByte(r.text[:p.At], '\n')
	r.malformed = append(r.malformed, Malformed{p.Line, column, why})
	return 0
}

const jumps = "inline PTX cannot jump to a label of the text"

// closing returns the index of the bracket that closes the one at open, or -1.
func closing(pieces []cudalex.Piece, open int) int {
	depth := 0
	for i := open; i < len(pieces); i++ {
		if pieces[i].Kind != cudalex.Punct {
			continue
		}
		switch pieces[i].Text {
		case "(", "[", "{", "[[":
			depth++
		case ")", "]", "}", "]]":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func is(p cudalex.Piece, punct string) bool { return p.Kind == cudalex.Punct && p.Text == punct }

// write writes the call. The strings of the constraints move to the template; every newline stays
// in its place.
func (s statement) write(b *strings.Builder) {
	b.WriteString("::emu::ptx::Asm<")
	writeSpaced(b, s.template)
	for _, c := range s.constraints {
		b.WriteString(` "\v"`)
		for _, p := range c {
			b.WriteByte(' ')
			b.WriteString(p.Text)
		}
	}
	b.WriteString(">::run(")
	writeSpaced(b, s.rest)
	b.WriteByte(')')
}

// writeSpaced writes pieces, with comments as the newlines that are in them.
func writeSpaced(b *strings.Builder, pieces []cudalex.Piece) {
	for _, p := range pieces {
		if p.Kind != cudalex.Comment {
			b.WriteString(p.Text)
			continue
		}
		b.WriteByte(' ')
		for range strings.Count(p.Text, "\n") {
			b.WriteByte('\n')
		}
	}
}
