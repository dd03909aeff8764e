package signature

import (
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// params parses the tokens between the parentheses of a parameter list.
func params(toks []cudalex.Piece) []Param {
	if len(toks) == 0 || len(toks) == 1 && toks[0].Text == "void" {
		return nil
	}
	var out []Param
	var open nest
	start, assigned := 0, -1
	flush := func(end int) {
		if assigned >= 0 {
			end = assigned
		}
		out = append(out, param(toks[start:end]))
	}
	for i, t := range toks {
		if open.step(t, assigned < 0); len(open) > 0 {
			continue
		}
		switch t.Text {
		case "=":
			if assigned < 0 {
				assigned = i
			}
		case ",":
			flush(i)
			start, assigned = i+1, -1
		}
	}
	flush(len(toks))
	return out
}

// param parses one declaration: its name is the last word that is not part of the type.
func param(toks []cudalex.Piece) Param {
	text := toks
	toks = withoutAttributes(toks)
	array := false
	for len(toks) > 0 && toks[len(toks)-1].Text == "]" {
		open := len(toks) - 1
		for open > 0 && toks[open].Text != "[" {
			open--
		}
		toks = toks[:open]
		array = true
	}
	name := ""
	if n := len(toks) - 1; n > 0 && isName(toks, n) {
		name = toks[n].Text
		toks = toks[:n]
	}
	typ := render(toks)
	if array {
		typ += "*"
	}
	return Param{Name: name, Type: typ, Text: text}
}

func withoutAttributes(toks []cudalex.Piece) []cudalex.Piece {
	var out []cudalex.Piece
	for i := 0; i < len(toks); i++ {
		if toks[i].Text == "[[" {
			for i < len(toks) && toks[i].Text != "]]" {
				i++
			}
			continue
		}
		out = append(out, toks[i])
	}
	return out
}

// isName reports whether the word at n is the parameter's name, and not the end of its type.
func isName(toks []cudalex.Piece, n int) bool {
	t := toks[n]
	if t.Kind != cudalex.Word || isQualifier(t.Text) || isTypeWord(t.Text) || toks[n-1].Text == "::" {
		return false
	}
	for _, b := range toks[:n] {
		if b.Kind != cudalex.Word || !isQualifier(b.Text) {
			return true // the words before it already are a type
		}
	}
	return false
}

func isQualifier(s string) bool {
	switch s {
	case "const", "volatile", "struct", "class", "enum", "union", "typename",
		"__restrict__", "__restrict", "__grid_constant__":
		return true
	}
	return false
}

// isTypeWord reports whether s is a keyword of which types may have several; such a word is never a
// name.
func isTypeWord(s string) bool {
	switch s {
	case "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto",
		"wchar_t", "char8_t", "char16_t", "char32_t":
		return true
	}
	return false
}

// render returns a type in canonical spacing: words separated, '*' and '&' attached to the word
// before, ", " in lists.
func render(toks []cudalex.Piece) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && spaced(toks[i-1], t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

func spaced(prev, t cudalex.Piece) bool {
	wordy := t.Kind == cudalex.Word || t.Kind == cudalex.Number
	switch prev.Text {
	case ",":
		return true
	case "*", "&", ">":
		return wordy
	}
	return wordy && (prev.Kind == cudalex.Word || prev.Kind == cudalex.Number)
}
