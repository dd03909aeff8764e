package signature

import "strings"

// params splits the tokens between the parentheses of a parameter list.
func params(toks []token) []Param {
	if len(toks) == 0 || len(toks) == 1 && toks[0].text == "void" {
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
		switch t.text {
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

// param reads one declaration: its name is the last word that is not part of the type.
func param(toks []token) Param {
	toks = withoutAttributes(toks)
	array := false
	for len(toks) > 0 && toks[len(toks)-1].text == "]" {
		open := len(toks) - 1
		for open > 0 && toks[open].text != "[" {
			open--
		}
		toks = toks[:open]
		array = true
	}
	name := ""
	if n := len(toks) - 1; n > 0 && isName(toks, n) {
		name = toks[n].text
		toks = toks[:n]
	}
	text := render(toks)
	if array {
		text += "*"
	}
	return Param{Name: name, Type: text}
}

func withoutAttributes(toks []token) []token {
	var out []token
	for i := 0; i < len(toks); i++ {
		if toks[i].text == "[[" {
			for i < len(toks) && toks[i].text != "]]" {
				i++
			}
			continue
		}
		out = append(out, toks[i])
	}
	return out
}

// isName reports whether the word at n is the parameter's name rather than the end of its type.
func isName(toks []token, n int) bool {
	t := toks[n]
	if t.kind != word || isQualifier(t.text) || isTypeWord(t.text) || toks[n-1].text == "::" {
		return false
	}
	for _, b := range toks[:n] {
		if b.kind != word || !isQualifier(b.text) {
			return true // something before it already is a type
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

// isTypeWord reports the keywords that types may be several of: one of them is never a name.
func isTypeWord(s string) bool {
	switch s {
	case "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto",
		"wchar_t", "char8_t", "char16_t", "char32_t":
		return true
	}
	return false
}

// render writes a type in canonical spacing: words apart, '*' and '&' with the word before, ", " in lists.
func render(toks []token) string {
	var b strings.Builder
	for i, t := range toks {
		if i > 0 && spaced(toks[i-1], t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

func spaced(prev, t token) bool {
	wordy := t.kind == word || t.kind == number
	switch prev.text {
	case ",":
		return true
	case "*", "&", ">":
		return wordy
	}
	return wordy && (prev.kind == word || prev.kind == number)
}
