package help

import (
	"go/scanner"
	"go/token"
	"strings"
)

// cursor describes the end of a source, where the cursor is.
type cursor struct {
	word      string // typed so far
	importing bool   // the word is an import path
	text      bool   // the word is in a string literal
	raw       bool   // in a raw one, of which the word is all
	call      string // the call with that argument: "symm.AllReduce"
	nothing   bool   // nothing can be completed, in a comment or a number
}

// cursorIn scans a source to its end.
func cursorIn(src string) cursor {
	var (
		s    scanner.Scanner
		file = token.NewFileSet().AddFile("", -1, len(src))
		open bool // the last token is an unterminated string or comment
		last token.Token
		text string   // of the last token
		end  int      // of it
		pkgs bool     // within an import declaration
		head string   // the words before the last bracket
		call []string // those before each open bracket
	)
	s.Init(file, []byte(src), func(_ token.Position, msg string) { open = strings.Contains(msg, "not terminated") }, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF || tok == token.SEMICOLON && file.Offset(pos) == len(src) {
			break
		}
		last, text, end = tok, lit, file.Offset(pos)+max(len(lit), 1)
		switch tok {
		case token.IMPORT:
			pkgs = true
		case token.LPAREN, token.LBRACK, token.LBRACE:
			call, head = append(call, head), ""
		case token.RPAREN, token.RBRACK, token.RBRACE:
			call = call[:max(len(call)-1, 0)]
			head, pkgs = "", false
		case token.IDENT:
			head = strings.TrimLeft(head, " ") + lit
		case token.PERIOD:
			head += "."
		case token.SEMICOLON:
			pkgs = pkgs && len(call) > 0
		}
		if tok != token.IDENT && tok != token.PERIOD {
			head = ""
		}
	}
	at := cursor{}
	switch touching := end >= len(src); {
	case last == token.STRING && open && touching:
		at.word, at.text = strings.TrimLeft(text, "\"`"), true
		at.importing = pkgs
		at.raw = strings.HasPrefix(text, "`")
		if len(call) > 0 {
			at.call = call[len(call)-1]
		}
	case last == token.COMMENT && (open || touching), last == token.CHAR && open, last == token.STRING && touching,
		touching && (last == token.INT || last == token.FLOAT || last == token.IMAG || last == token.CHAR):
		at.nothing = true
	case touching && (last == token.IDENT || last.IsKeyword()):
		at.word = text
	}
	return at
}
