package check

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// Item is a piece of a cell between two top-level semicolons.
type Item struct {
	Start, End int
	Decl       bool
	list       bool // a list of expressions at the end of the cell
	quiet      bool // a semicolon ends it and the cell
}

// Split finds the top-level items of a cell and which of them have to be outside of functions:
// declarations that Go allows only there, and types, which may have methods.
func Split(src string) ([]Item, scanner.ErrorList) {
	var (
		s      scanner.Scanner
		items  []Item
		errs   scanner.ErrorList
		tokens []token.Token // of the current item
		last   []token.Token // of the last one
		end    int           // of the last item's last token
		closed bool          // a semicolon of the text ended the last item
		start  = -1
		depth  int
		// the item is or ends with an if, for or switch; semicolons in its head do not separate
		// items
		head    bool
		file    = token.NewFileSet().AddFile(FileName, -1, len(src))
		onError = func(pos token.Position, msg string) { errs.Add(pos, msg) }
	)
	s.Init(file, []byte(src), onError, 0)
	for {
		pos, tok, lit := s.Scan()
		offset := file.Offset(pos)
		switch tok {
		case token.LBRACE, token.LPAREN, token.LBRACK:
			depth++
		case token.RBRACE, token.RPAREN, token.RBRACK:
			depth--
			if depth < 0 {
				errs.Add(file.Position(pos), "syntax error: unexpected "+tok.String())
				return nil, errs
			}
		}
		head = head || depth == 0 && (tok == token.IF || tok == token.FOR || tok == token.SWITCH)
		if tok == token.EOF || tok == token.SEMICOLON && depth == 0 && !(head && lit == ";" && !isWhole(src[start:offset], tokens)) {
			if start >= 0 {
				// otherwise a comment may precede the newline, or extend beyond it
				if closed = lit == ";"; closed {
					end = offset
				}
				items = append(items, Item{Start: start, End: end, Decl: isDecl(tokens)})
				last, tokens = tokens, last
			}
			if tok == token.EOF {
				if n := len(items) - 1; n >= 0 && !items[n].Decl && isList(last) {
					items[n].list = true
				}
				if n := len(items) - 1; n >= 0 {
					items[n].quiet = closed
				}
				return items, errs
			}
			start, tokens, head = -1, tokens[:0], false
			continue
		}
		if start < 0 {
			start = offset
		}
		tokens = append(tokens, tok)
		end = tokenEnd(src, offset, tok, lit)
	}
}

// tokenEnd returns the offset of the end of the token at an offset. The semicolon at the end of a
// line has no text, and the literal of a raw string lacks its carriage returns.
func tokenEnd(src string, offset int, tok token.Token, lit string) int {
	switch {
	case tok == token.SEMICOLON && lit == "\n":
		return offset
	case lit == "":
		return offset + len(tok.String())
	case lit[0] == '`':
		return offset + strings.IndexByte(src[offset+1:], '`') + 2
	}
	return offset + len(lit)
}

// isWhole reports whether a text with the given tokens is a complete if, for or switch statement, not
// just the head of one.
func isWhole(text string, tokens []token.Token) bool {
	if tokens[len(tokens)-1] != token.RBRACE {
		return false
	}
	_, err := parser.ParseFile(token.NewFileSet(), FileName, stmtsHeader+text+"\n}", parser.SkipObjectResolution)
	return err == nil
}

// isDecl reports whether an item begins with import, type, const, func f or func (r) f. A function
// literal begins a statement.
func isDecl(tokens []token.Token) bool {
	switch tokens[0] {
	case token.IMPORT, token.TYPE, token.CONST, token.PACKAGE:
		return true
	case token.FUNC:
		if len(tokens) < 2 || tokens[1] == token.IDENT {
			return true
		}
		// func (receiver) name ( or [
		depth := 0
		for i, t := range tokens[1:] {
			switch t {
			case token.LPAREN, token.LBRACK, token.LBRACE:
				depth++
			case token.RPAREN, token.RBRACK, token.RBRACE:
				depth--
			}
			if depth == 0 {
				rest := tokens[i+2:]
				return len(rest) >= 2 && rest[0] == token.IDENT && rest[1] == token.LPAREN
			}
		}
	}
	return false
}

// blank returns src with only declarations (or only other items) kept, and all other bytes except
// newlines replaced by spaces.
func blank(src string, items []Item, decls bool) string {
	b := []byte(src)
	clear := func(from, to int) {
		for j := from; j < to; j++ {
			if b[j] != '\n' {
				b[j] = ' '
			}
		}
	}
	last := 0
	for _, it := range items {
		clear(last, it.Start) // empty statements and comments
		last = it.End
		switch {
		case it.Decl != decls:
			clear(it.Start, it.End)
		case last < len(src) && src[last] == ';':
			last++
		}
	}
	clear(last, len(src))
	return string(b)
}

// isList reports whether the tokens of an item are a list of expressions.
func isList(tokens []token.Token) bool {
	if tokens[0].IsKeyword() && tokens[0] != token.FUNC && tokens[0] != token.MAP && tokens[0] != token.CHAN &&
		tokens[0] != token.STRUCT && tokens[0] != token.INTERFACE {
		return false
	}
	depth, commas := 0, 0
	for _, t := range tokens {
		switch t {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		}
		if depth > 0 {
			continue
		}
		switch {
		case t == token.COMMA:
			commas++
		case t == token.ASSIGN, t == token.DEFINE, t >= token.ADD_ASSIGN && t <= token.AND_NOT_ASSIGN:
			return false
		}
	}
	return commas > 0
}
