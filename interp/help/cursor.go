package help

import (
	"go/token"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
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
		last gotokens.Token
		end  int      // of it
		pkgs bool     // within an import declaration
		head string   // the words before the last bracket
		call []string // those before each open bracket
	)
	for t := range gotokens.WithComments(src) {
		if t.Kind == token.SEMICOLON && t.At == len(src) {
			break
		}
		last, end = t, t.At+max(len(t.Text), 1)
		switch t.Kind {
		case token.IMPORT:
			pkgs = true
		case token.LPAREN, token.LBRACK, token.LBRACE:
			call, head = append(call, head), ""
		case token.RPAREN, token.RBRACK, token.RBRACE:
			call = call[:max(len(call)-1, 0)]
			head, pkgs = "", false
		case token.IDENT:
			head = strings.TrimLeft(head, " ") + t.Text
		case token.PERIOD:
			head += "."
		case token.SEMICOLON:
			pkgs = pkgs && len(call) > 0
		}
		if t.Kind != token.IDENT && t.Kind != token.PERIOD {
			head = ""
		}
	}
	at := cursor{}
	switch touching := end >= len(src); {
	case last.Kind == token.STRING && last.Open && touching:
		at.word, at.text = strings.TrimLeft(last.Text, "\"`"), true
		at.importing = pkgs
		at.raw = strings.HasPrefix(last.Text, "`")
		if len(call) > 0 {
			at.call = call[len(call)-1]
		}
	case last.Kind == token.COMMENT && (last.Open || touching), last.Kind == token.CHAR && last.Open, last.Kind == token.STRING && touching,
		touching && (last.Kind == token.INT || last.Kind == token.FLOAT || last.Kind == token.IMAG || last.Kind == token.CHAR):
		at.nothing = true
	case touching && (last.Kind == token.IDENT || last.Kind.IsKeyword()):
		at.word = last.Text
	}
	return at
}
