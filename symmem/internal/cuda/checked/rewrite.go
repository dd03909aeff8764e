package checked

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/kernels/signature"
)

// Rewrite returns the text with checked pointers as parameters of the kernels, which
// signature.Parse has found in it. which reports for each kernel's parameters which ones are
// checked. Instances of a template share its text: a parameter is checked if it is a pointer in all
// of them. Explicit instantiations are removed, because their declarations would not match any
// more; the caller instantiates the kernels by name.
func Rewrite(text string, kernels []signature.Kernel) (out string, which [][]bool) {
	at := func(p signature.Param) int { return p.Text[0].At }
	pointers := map[int][]edit{} // by the place of the parameter; nil if it must not be checked
	for _, k := range kernels {
		for _, p := range k.Params {
			if len(p.Text) == 0 || k.Template {
				continue
			}
			edits, ok := pointer(p)
			if before, met := pointers[at(p)]; !ok || met && before == nil {
				edits = nil
			}
			pointers[at(p)] = edits
		}
	}
	var edits []edit
	for _, k := range kernels {
		are := make([]bool, len(k.Params))
		for i, p := range k.Params {
			are[i] = len(p.Text) > 0 && !k.Template && pointers[at(p)] != nil
		}
		which = append(which, are)
		if gone := k.Instantiation; gone != nil {
			last := gone[len(gone)-1]
			begin, end := gone[0].At, last.At+len(last.Text)
			edits = append(edits, edit{begin, end - begin, strings.Repeat("\n", strings.Count(text[begin:end], "\n"))})
		}
	}
	for _, more := range pointers {
		edits = append(edits, more...)
	}
	return apply(text, edits), which
}

// edit replaces n bytes by text.
type edit struct {
	at, n int
	text  string
}

// apply makes edits that do not overlap.
func apply(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	end := 0
	for _, e := range edits {
		b.WriteString(text[end:e.at] + e.text)
		end = e.at + e.n
	}
	return b.String() + text[end:]
}

// pointer returns the edits that make a parameter a checked pointer, if it is a single pointer to a
// type with a size.
func pointer(p signature.Param) ([]edit, bool) {
	if t := signature.Classify(p.Type); t.Pointers != 1 || t.Base == signature.Void {
		return nil, false
	}
	toks := p.Text
	for len(toks) > 0 && toks[0].Text == "[[" { // attributes stay in front
		end := slices.IndexFunc(toks, func(t cudalex.Piece) bool { return t.Text == "]]" })
		toks = toks[end+1:]
		if end < 0 {
			return nil, false
		}
	}
	star := -1
	edits := []edit{{at: toks[0].At, text: "symm::Checked<"}}
	for i, t := range toks {
		switch {
		case t.Text == "*" && star < 0:
			star = i
			edits = append(edits, edit{t.At, 1, ">"})
		// a qualifier of the pointer itself
		case star >= 0 && (t.Text == "__restrict__" || t.Text == "__restrict" || t.Text == "volatile"):
			edits = append(edits, edit{at: t.At, n: len(t.Text)})
		case t.Kind == cudalex.Word && t.Text != "__grid_constant__", t.Text == "::":
		default:
			return nil, false
		}
	}
	return edits, star >= 0
}
