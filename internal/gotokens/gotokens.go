// Package gotokens reads the tokens of texts that need not be correct Go, such as cells while they are
// typed.
package gotokens

import (
	"go/scanner"
	"go/token"
	"iter"
	"strings"
)

// Token is a token of a text.
type Token struct {
	Kind  token.Token
	Text  string // of names, keywords, literals and comments; "\n" of the semicolon for the end of a line
	At    int    // its offset in the text
	Depth int    // brackets that are open after it; a closing bracket without an opening one does not count
	Open  bool   // the end of a literal or comment is missing
}

// IsNewline reports whether a token is a semicolon that stands for the end of a line or of the text.
func (t Token) IsNewline() bool { return t.Kind == token.SEMICOLON && t.Text == "\n" }

// All yields the tokens of a text, except comments.
func All(text string) iter.Seq[Token] { return scan(text, 0) }

// WithComments yields the tokens of a text, comments included.
func WithComments(text string) iter.Seq[Token] { return scan(text, scanner.ScanComments) }

func scan(text string, mode scanner.Mode) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		var s scanner.Scanner
		var t Token
		file := token.NewFileSet().AddFile("", -1, len(text))
		s.Init(file, []byte(text), func(_ token.Position, msg string) { t.Open = t.Open || strings.Contains(msg, "not terminated") }, mode)
		for {
			t.Open = false
			var pos token.Pos
			pos, t.Kind, t.Text = s.Scan()
			t.At = file.Offset(pos)
			switch t.Kind {
			case token.LPAREN, token.LBRACK, token.LBRACE:
				t.Depth++
			case token.RPAREN, token.RBRACK, token.RBRACE:
				t.Depth = max(0, t.Depth-1)
			}
			if t.Kind == token.EOF || !yield(t) {
				return
			}
		}
	}
}

// Depth returns the number of brackets that a text leaves open.
func Depth(text string) (depth int) {
	for t := range All(text) {
		depth = t.Depth
	}
	return depth
}

// InRaw reports whether a text ends within a raw string.
func InRaw(text string) (within bool) {
	for t := range All(text) {
		within = within || t.Open && t.Kind == token.STRING && t.Text[0] == '`'
	}
	return within
}
