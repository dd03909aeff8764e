package checked

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// RewriteAll also rewrites pointers in the bodies of functions, in a text that Rewrite returned:
// declarations of pointers with a value, and casts to pointers. A pointer derived from a plain
// pointer stays unchecked.
func RewriteAll(text string) string {
	toks, err := cudalex.Tokens(text)
	if err != nil {
		return text
	}
	b := bodies{toks: toks}
	for i := range toks {
		b.follow(i)
		if b.inside() {
			b.declaration(i)
			b.cast(i)
			b.namedCast(i)
		}
	}
	return apply(text, b.edits)
}

// bodies walks the tokens of a text.
type bodies struct {
	toks  []cudalex.Piece
	head  int    // first token of the current statement or declaration
	open  []bool // for each open brace, whether it begins a body, and not a type or a namespace
	edits []edit
}

// inside reports whether the tokens are in a body.
func (b *bodies) inside() bool { return len(b.open) > 0 && b.open[len(b.open)-1] }

// follow keeps track of braces and statements up to token i.
func (b *bodies) follow(i int) {
	if i == 0 {
		return
	}
	switch b.text(i - 1) {
	case "{":
		body := true
		for _, t := range b.toks[b.head : i-1] {
			switch t.Text {
			case "struct", "class", "union", "enum", "namespace", "extern":
				body = false
			case "(":
				body = true
			}
		}
		b.open = append(b.open, body)
		b.head = i
	case "}":
		if n := len(b.open); n > 0 {
			b.open = b.open[:n-1]
		}
		b.head = i
	case ";":
		b.head = i
	}
}

// text returns the text of token i, "" behind the end.
func (b *bodies) text(i int) string {
	if i < 0 || i >= len(b.toks) {
		return ""
	}
	return b.toks[i].Text
}

// pointee returns the index of the star of a pointer's type that begins at token i: words that name
// a type, and one star.
func (b *bodies) pointee(i int) (star int, ok bool) {
	named := false
	for ; i < len(b.toks); i++ {
		switch t := b.toks[i]; {
		case t.Text == "*":
			return i, named
		case slices.Contains(notOfTypes, t.Text):
			return 0, false
		case t.Kind == cudalex.Word && t.Text != "const" && t.Text != "volatile":
			named = true
		case t.Kind == cudalex.Word, t.Text == "::":
		default:
			return 0, false
		}
	}
	return 0, false
}

// notOfTypes are words that do not occur in the name of a type with a size.
var notOfTypes = []string{"void", "auto", "return", "else", "do", "case", "goto", "delete", "new", "throw", "using", "typedef",
	"extern", "static", "constexpr", "register", "__shared__",
	"__constant__", "__device__", "operator", "sizeof", "co_return", "co_yield", "typename", "decltype"}

// declaration rewrites the declaration that begins at token i, if it declares a single pointer with
// a value: `const float* x = …;`.
func (b *bodies) declaration(i int) {
	if i != b.head && (b.text(i-1) != "(" || b.text(i-2) != "for") {
		return
	}
	star, ok := b.pointee(i)
	if !ok {
		return
	}
	edits := []edit{{at: b.toks[i].At, text: "symm::Checked<"}, {b.toks[star].At, 1, ">"}}
	name := star + 1
	for ; name < len(b.toks); name++ {
		if t := b.toks[name]; t.Text == "__restrict__" || t.Text == "__restrict" {
			edits = append(edits, edit{at: t.At, n: len(t.Text)})
		} else if t.Text != "const" {
			break
		}
	}
	if name >= len(b.toks) || b.toks[name].Kind != cudalex.Word || b.text(name+1) != "=" || b.text(name+2) == "=" {
		return
	}
	deep := 0
	for j := name + 2; j < len(b.toks); j++ {
		switch b.text(j) {
		case "(", "[", "{", "[[":
			deep++
		case ")", "]", "}", "]]":
			deep--
		case ",":
			if deep == 0 {
				return // several pointers at once
			}
		case ";":
			if deep == 0 {
				b.edits = append(b.edits, edits...)
				return
			}
		}
		if deep < 0 {
			return
		}
	}
}

// cast rewrites the cast that begins at token i: `(float4*)x`.
func (b *bodies) cast(i int) {
	if b.text(i) != "(" || i == 0 {
		return
	}
	switch before := b.toks[i-1]; {
	case before.Kind == cudalex.Word && before.Text != "return", before.Kind == cudalex.Number, before.Text == ")",
		before.Text == "]", before.Text == ">", before.Text == "}":
		return // the parenthesis belongs to a call or a declaration
	}
	star, ok := b.pointee(i + 1)
	if !ok || b.text(star+1) != ")" || star+2 >= len(b.toks) {
		return
	}
	if after := b.toks[star+2]; after.Kind == cudalex.Word || after.Text == "(" || after.Text == "&" {
		b.edits = append(b.edits, edit{at: b.toks[i+1].At, text: "symm::Checked<"}, edit{b.toks[star].At, 1, ">"})
	}
}

// namedCast rewrites the named cast that begins at token i: `reinterpret_cast<float4*>(x)`.
func (b *bodies) namedCast(i int) {
	if t := b.text(i); t != "reinterpret_cast" && t != "static_cast" || b.text(i+1) != "<" {
		return
	}
	star, ok := b.pointee(i + 2)
	if !ok || b.text(star+1) != ">" || b.text(star+2) != "(" {
		return
	}
	word := b.toks[i]
	b.edits = append(b.edits, edit{word.At, len(word.Text), "symm::recast"}, edit{at: b.toks[star].At, n: 1})
}
