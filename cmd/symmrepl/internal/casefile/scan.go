package casefile

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// tok is a token of a statement.
type tok struct {
	kind     token.Token
	text     string
	pos, end int // in the text of the statement
}

// reader reads one statement.
type reader struct {
	file  string
	lines []line // of the statement
	text  string // the lines, joined
	toks  []tok
	next  int
}

// newReader splits a statement into tokens. They are Go's, with the f of C++ behind a number taken
// away.
func newReader(file string, lines []line) (*reader, error) {
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	r := &reader{file: file, lines: lines, text: strings.Join(texts, "\n")}
	src := []byte(r.text)
	set := token.NewFileSet()
	f := set.AddFile("", -1, len(src))
	var s scanner.Scanner
	var wrong error
	s.Init(f, src, func(at token.Position, msg string) {
		if wrong == nil {
			wrong = r.fail(at.Offset, msg, "")
		}
	}, 0)
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF || wrong != nil {
			return r, wrong
		}
		if kind == token.SEMICOLON && text == "\n" {
			continue
		}
		at := f.Offset(pos)
		if text == "" {
			text = kind.String()
		}
		if n := len(r.toks); n > 0 && text == "f" && r.toks[n-1].end == at &&
			(r.toks[n-1].kind == token.FLOAT || r.toks[n-1].kind == token.INT) {
			r.text = r.text[:at] + " " + r.text[at+1:]
			continue
		}
		r.toks = append(r.toks, tok{kind, text, at, at + len(text)})
	}
}

// fail returns an error at an offset of the statement's text.
func (r *reader) fail(at int, msg, hint string) error {
	k := 0
	for k+1 < len(r.lines) && at > len(r.lines[k].text) {
		at -= len(r.lines[k].text) + 1
		k++
	}
	return &Error{File: r.file, Line: r.lines[k].number, Column: r.lines[k].column + at, Msg: msg, Hint: hint}
}

// failNext returns an error at the next token.
func (r *reader) failNext(msg, hint string) error { return r.fail(r.peek().pos, msg, hint) }

// peek returns the next token; at the end its kind is EOF.
func (r *reader) peek() tok {
	if r.next < len(r.toks) {
		return r.toks[r.next]
	}
	end := len(strings.TrimRight(r.text, " \t\n"))
	return tok{kind: token.EOF, text: "the end of the statement", pos: end, end: end}
}

// take returns the next token and goes on behind it.
func (r *reader) take() tok {
	t := r.peek()
	r.next++
	return t
}

// accept goes on behind the next token if it has one of some texts.
func (r *reader) accept(texts ...string) bool {
	if t := r.peek(); t.kind != token.STRING && slices.Contains(texts, t.text) {
		r.next++
		return true
	}
	return false
}

// need goes on behind tokens with some texts.
func (r *reader) need(where string, texts ...string) error {
	for _, text := range texts {
		if !r.accept(text) {
			return r.failNext(text+" is expected "+where+", not "+r.peek().text, "")
		}
	}
	return nil
}

// name takes an identifier.
func (r *reader) name(of string) (string, error) {
	t := r.peek()
	if t.kind != token.IDENT {
		return "", r.failNext("the name of "+of+" is expected, not "+t.text, "")
	}
	r.next++
	return t.text, nil
}

// until returns the text up to the next token with one of some texts that is in no brackets, and
// goes on before it. A text "" stands for the end of the statement.
func (r *reader) until(what string, ends ...string) (text string, from int, err error) {
	begin, open := r.next, []tok(nil)
	for ; ; r.next++ {
		t := r.peek()
		last := t.kind == token.EOF && slices.Contains(ends, "") || slices.Contains(ends, t.text) && !r.calls("on")
		if len(open) == 0 && last && begin < r.next {
			break
		}
		switch t.kind {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, t)
			continue
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(open); n > 0 && closing[open[n-1].kind] == t.kind {
				open = open[:n-1]
				continue
			}
		case token.EOF:
			if n := len(open); n > 0 {
				return "", 0, r.fail(open[n-1].pos, open[n-1].text+" is not closed", "")
			}
		default:
			if len(open) > 0 || !last {
				continue
			}
		}
		return "", 0, r.failNext(what+" is expected, not "+t.text, "")
	}
	first, last := r.toks[begin], r.toks[r.next-1]
	return r.text[first.pos:last.end], first.pos, nil
}

// calls reports whether the next tokens call a function: on(0, x) in a formula is no list of ranks.
func (r *reader) calls(name string) bool {
	return r.peek().text == name && r.next+1 < len(r.toks) && r.toks[r.next+1].text == "("
}

// closing is the bracket that closes another.
var closing = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

// expression takes an expression of Go that ends before one of some tokens.
func (r *reader) expression(what string, ends ...string) (string, error) {
	text, from, err := r.until(what, ends...)
	if err != nil {
		return "", err
	}
	if _, err := parser.ParseExpr(text); err != nil {
		return "", r.fail(from+offsetOf(err), what+" is no expression of Go: "+messageOf(err), "")
	}
	return text, nil
}

// expressions takes expressions with commas between, up to one of some tokens.
func (r *reader) expressions(what string, ends ...string) (list []string, err error) {
	for {
		text, err := r.expression(what, append(ends, ",")...)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
		if !r.accept(",") {
			return list, nil
		}
	}
}

// offsetOf returns the offset of the first mistake that Go's parser found.
func offsetOf(err error) int {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return list[0].Pos.Offset
	}
	return 0
}

// messageOf returns its message.
func messageOf(err error) string {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return list[0].Msg
	}
	return err.Error()
}

// end refuses anything behind a statement.
func (r *reader) end(of string) error {
	if t := r.peek(); t.kind != token.EOF {
		return r.failNext(t.text+" is not expected behind "+of, "")
	}
	return nil
}
