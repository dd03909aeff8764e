package cudalex

import "strings"

// Tokens returns the code of a text, without comments, preprocessor lines, and text excluded by
// `#if 0`. An error is an *Error.
func Tokens(text string) ([]Piece, error) {
	var tokens []Piece
	l := newLexer(text, nil)
	for {
		p, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return tokens, nil
		}
		if p.Kind <= Punct {
			tokens = append(tokens, p)
		}
	}
}

// Pieces returns all pieces of a text, in order; their texts together are the text. A piece that is
// not terminated ends where lexing can continue.
func Pieces(text string, known Known) []Piece { return newLexer(text, known).all() }

// Inside returns the pieces of a directive: the first is its "#". Their lines and offsets count as
// those of the directive do.
func (p Piece) Inside() []Piece {
	l := lexer{src: p.Text, pos: len("#"), line: p.Line}
	pieces := append([]Piece{{Kind: Punct, Text: "#", Line: p.Line}}, l.all()...)
	for i := range pieces {
		pieces[i].At += p.At
	}
	return pieces
}

func (l *lexer) all() (pieces []Piece) {
	for {
		p, ok, _ := l.next()
		if !ok {
			return pieces
		}
		pieces = append(pieces, p)
	}
}

// Blank replaces comments, the contents of literals, and text that the preprocessor certainly
// excludes by spaces. Lines, columns and the names of included headers do not change.
func Blank(text string, known Known) string {
	var b strings.Builder
	newLexer(text, known).blank(&b, false)
	return b.String()
}

func (l *lexer) blank(b *strings.Builder, literals bool) {
	for {
		p, ok, err := l.next()
		if !ok {
			return
		}
		switch p.Kind {
		case Comment, Excluded:
			erase(b, p.Text)
		case Literal:
			if literals {
				b.WriteString(p.Text)
				continue
			}
			first, last := strings.IndexAny(p.Text, `"'`)+1, len(p.Text)
			if err == nil {
				last-- // the closing quote
			}
			b.WriteString(p.Text[:first])
			erase(b, p.Text[first:last])
			b.WriteString(p.Text[last:])
		case Directive:
			name, _ := split(p.Text)
			b.WriteByte('#')
			inner := lexer{src: p.Text, pos: len("#")}
			inner.blank(b, name == "include")
		default:
			b.WriteString(p.Text)
		}
	}
}

// erase writes spaces in place of the text, but keeps its newlines.
func erase(b *strings.Builder, text string) {
	for i := range len(text) {
		if text[i] == '\n' {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
}
