package cudadoc

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// statement is the code of a declaration up to its semicolon, or up to the brace of its body.
type statement struct {
	template string // "template <class T>", or ""
	tokens   []token
	end      string // ";", "{", or "" at the end of the text
}

type token struct {
	text  string
	kind  cudalex.Kind
	apart bool // from the token before
}

// statement reads tokens, and passes the end. It stops before a brace that closes the scope.
func (p *parser) statement() *statement {
	s := &statement{}
	if p.begun != nil {
		s, p.begun = p.begun, nil
	}
	parens, initialisers, value := 0, false, false
	angles, head := 0, false // of a template's head
	operator := false
	apart := false
	for ; p.at < len(p.pieces); p.at++ {
		piece := p.pieces[p.at]
		if piece.Kind > cudalex.Punct {
			apart = true
			continue
		}
		switch piece.Text {
		case "template":
			head = head || len(s.tokens) == 0
		case "operator":
			operator = true
		case "<":
			if head && parens <= 0 {
				angles++
			}
		case ">":
			if head && parens <= 0 {
				angles--
				head = angles > 0
			}
		case "(", "[", "[[":
			parens++
		case ")", "]", "]]":
			parens--
		case "=":
			value = value || parens <= 0 && !head && !operator
		case ":":
			initialisers = initialisers || parens <= 0 && len(s.tokens) > 0 && s.tokens[len(s.tokens)-1].text == ")" && !s.isType()
		case ";":
			if parens <= 0 {
				p.at++
				return s.ended(";")
			}
		case "}":
			if parens <= 0 {
				return s.ended("")
			}
		case "{":
			if parens > 0 {
				break
			}
			p.at++
			if value || initialisers && s.tokens[len(s.tokens)-1].kind == cudalex.Word {
				p.skipBody()
				p.at-- // the loop passes the brace
				s.tokens = append(s.tokens, token{"{", cudalex.Punct, apart}, token{"}", cudalex.Punct, false})
				apart = false
				continue
			}
			return s.ended("{")
		}
		s.tokens = append(s.tokens, token{piece.Text, piece.Kind, apart})
		apart = false
	}
	return s.ended("")
}

// ended takes the head of a template from the tokens.
func (s *statement) ended(end string) *statement {
	s.end = end
	for len(s.tokens) > 1 && s.tokens[0].text == "template" && s.tokens[1].text == "<" {
		close := s.closing(1)
		s.template = strings.TrimSpace(s.template + " " + join(s.tokens[:close]))
		s.tokens = s.tokens[close:]
	}
	return s
}

// closing returns the index behind the angle that closes the one at a token.
func (s *statement) closing(at int) int {
	depth, parens := 0, 0
	for i := at; i < len(s.tokens); i++ {
		switch s.tokens[i].text {
		case "(":
			parens++
		case ")":
			parens--
		case "<":
			if parens == 0 {
				depth++
			}
		case ">":
			if parens == 0 {
				depth--
			}
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(s.tokens)
}

// qualifiers are words that say how a function is compiled, and nothing to its callers.
var qualifiers = []string{"__device__", "__host__", "__forceinline__", "__noinline__", "__inline__", "inline", "static", "extern",
	"noexcept", "explicit", "mutable"}

// drop removes qualifiers, also those behind macros, and attributes.
func (s *statement) drop(r *Reader) {
	isQualifier := func(t token) bool {
		if t.kind != cudalex.Word {
			return false
		}
		if slices.Contains(qualifiers, t.text) {
			return true
		}
		if m := r.macros[t.text]; m != nil && !m.function && m.body != "" {
			words := strings.Fields(m.body)
			return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(qualifiers, w) })
		}
		return false
	}
	var kept []token
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch {
		case t.text == `"C"`, isQualifier(t):
			continue
		case t.text == "__attribute__", t.text == "alignas", t.text == "__align__", t.text == "[[":
			closes := ")"
			if t.text == "[[" {
				closes = "]]"
			}
			for depth := 0; i < len(s.tokens); i++ {
				if s.tokens[i].text == "(" || s.tokens[i].text == "[[" {
					depth++
				} else if s.tokens[i].text == ")" || s.tokens[i].text == "]]" {
					if depth--; depth == 0 && s.tokens[i].text == closes {
						break
					}
				}
			}
			continue
		}
		kept = append(kept, t)
	}
	s.tokens = kept
}

func (s *statement) words(i int) string {
	if i < len(s.tokens) {
		return s.tokens[i].text
	}
	return ""
}

// is reports whether the statement begins with these tokens.
func (s *statement) is(texts ...string) bool {
	for i, text := range texts {
		if s.words(i) != text {
			return false
		}
	}
	return true
}

func (s *statement) has(text string) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.text == text })
}

// isType reports whether the statement declares a type with a body, or a variable of such a type.
func (s *statement) isType() bool {
	i := 0
	for s.words(i) == "typedef" || s.words(i) == "const" || s.words(i) == "constexpr" {
		i++
	}
	return slices.Contains(keys, s.words(i)) && s.parameters() == 0
}

// parameters returns the index of the parenthesis that begins a function's parameters, or 0.
func (s *statement) parameters() int {
	angles := 0
	for i, t := range s.tokens {
		switch t.text {
		case "<":
			angles++
		case ">":
			angles--
		case "=", ":":
			if !s.has("operator") {
				return 0
			}
		case "(":
			if i > 0 && angles <= 0 && s.tokens[i-1].kind == cudalex.Word &&
				!slices.Contains([]string{"alignas", "__align__", "__attribute__", "decltype", "sizeof"}, s.tokens[i-1].text) {
				return i
			}
		}
	}
	return 0
}

// deleted reports whether a function does not exist, or is what the compiler makes.
func (s *statement) deleted() bool {
	n := len(s.tokens)
	return n > 2 && s.tokens[n-2].text == "=" && (s.tokens[n-1].text == "delete" || s.tokens[n-1].text == "default")
}

// typeName returns the name of a type with a body, and its bases.
func (s *statement) typeName() (name string, bases []string) {
	i := slices.IndexFunc(s.tokens, func(t token) bool { return slices.Contains(keys, t.text) }) + 1
	if s.words(i) == "class" || s.words(i) == "struct" { // of an enum
		i++
	}
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if t.text == ":" {
			base := slices.DeleteFunc(slices.Clone(s.tokens[i+1:]),
				func(t token) bool { return t.text == "public" || t.text == "private" || t.text == "virtual" })
			if len(base) > 0 && !s.has("enum") {
				bases = strings.Split(join(base), ", ")
			}
			break
		}
		if name == "" && t.kind == cudalex.Word && s.words(i+1) != "(" {
			name = t.text
		}
	}
	return name, bases
}

// specialised reports whether a type is a template's for certain arguments.
func (s *statement) specialised(name string) bool {
	i := slices.IndexFunc(s.tokens, func(t token) bool { return t.text == name })
	return i >= 0 && s.words(i+1) == "<"
}

// variable returns the name of a variable with a value.
func (s *statement) variable() string {
	for i, t := range s.tokens {
		if (t.text == "=" || t.text == "[" || t.text == "{") && i > 0 && s.tokens[i-1].kind == cudalex.Word {
			return s.tokens[i-1].text
		}
	}
	return ""
}

// names returns the names that a declaration of fields has: the words before commas, brackets,
// values, widths, and the end.
func (s *statement) names() (names []string) {
	depth, done := 0, false
	for i := range len(s.tokens) + 1 {
		text := s.words(i)
		switch text {
		case "(", "<", "{", "[[":
			depth++
		case ")", ">", "}", "]]":
			depth--
		case ",", "=", "[", ":", "":
			if depth == 0 && !done && i > 1 && s.tokens[i-1].kind == cudalex.Word {
				names = append(names, s.tokens[i-1].text)
			}
			if depth == 0 {
				done = text != ","
			}
		}
	}
	return names
}

// before returns the code before a name, without words that only qualify.
func (s *statement) before(name string) string {
	i := slices.IndexFunc(s.tokens, func(t token) bool { return t.text == name })
	return join(slices.DeleteFunc(slices.Clone(s.tokens[:max(i, 0)]),
		func(t token) bool { return t.text == "const" || t.text == "constexpr" || t.text == "volatile" }))
}

// from returns the code from a token on.
func (s *statement) from(i int) string { return join(s.tokens[min(i, len(s.tokens)):]) }

// code returns the code in one line, a function's without initialisers.
func (s *statement) code() string {
	tokens := s.tokens
	if open := s.parameters(); open > 0 {
		depth := 0
		for i := open; i < len(tokens); i++ {
			switch tokens[i].text {
			case "(":
				depth++
			case ")":
				depth--
			case ":":
				if depth == 0 {
					tokens = tokens[:i]
				}
			}
		}
	}
	return strings.TrimSpace(s.template + " " + join(tokens))
}

// join returns tokens as text, with one blank where there was space.
func join(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && (t.apart || glue(tokens[i-1], t)) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// glue reports whether two tokens would become one.
func glue(a, b token) bool {
	return a.kind <= cudalex.Number && b.kind <= cudalex.Number
}
