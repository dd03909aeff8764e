package help

import (
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// Complete lists completions of the word at the end of src. Candidates begin with the word; if
// there are none, case is ignored.
func (h *Guide) Complete(src string) []session.Candidate {
	at := cursorIn(src)
	var found []session.Candidate
	switch {
	case at.raw && !at.importing && h.isSnippet(at.word, at.call):
		found, at.word = completeSnippet(at.word)
	case at.importing:
		found = h.importPaths()
	case at.text:
		found = h.wordsFor(at.call)
	case !at.nothing:
		found = h.candidates(src[:len(src)-len(at.word)])
	}
	found = matching(found, at.word)
	for i := range found {
		found[i].Type = strings.ReplaceAll(found[i].Type, "\n", " ")
	}
	return found
}

// matching returns the candidates that begin with word, sorted and each name once.
func matching(list []session.Candidate, word string) []session.Candidate {
	begin := func(equal func(a, b string) bool) []session.Candidate {
		return slices.DeleteFunc(slices.Clone(list), func(c session.Candidate) bool {
			return len(c.Name) < len(word) || !equal(c.Name[:len(word)], word) || c.Name == "_" ||
				strings.ContainsAny(c.Name, "#"+check.Placeholder)
		})
	}
	found := begin(func(a, b string) bool { return a == b })
	if len(found) == 0 {
		found = begin(strings.EqualFold)
	}
	if slices.ContainsFunc(found, func(c session.Candidate) bool { return c.Kind != kindImport }) {
		found = slices.DeleteFunc(found, func(c session.Candidate) bool { return c.Kind == kindImport })
	}
	slices.SortStableFunc(found, func(a, b session.Candidate) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(found, func(a, b session.Candidate) bool { return a.Name == b.Name })
}

// importPaths lists the packages that can be imported.
func (h *Guide) importPaths() []session.Candidate {
	var list []session.Candidate
	for path := range h.checker.Packages().Importable() {
		list = append(list, session.Candidate{Name: path, Kind: "package"})
	}
	return list
}

// wordsFor lists the strings that an argument of a function may be.
func (h *Guide) wordsFor(call string) []session.Candidate {
	pkg, function, _ := strings.Cut(call, ".")
	if h.checker.Imports()[pkg] != check.SymmemPath || !strings.Contains(function, "Reduce") {
		return nil
	}
	return []session.Candidate{
		{Name: "avg", Kind: "value"}, {Name: "max", Kind: "value"}, {Name: "min", Kind: "value"}, {Name: "sum", Kind: "value"},
	}
}

// candidates lists the candidates after before. The source is completed so that it parses, and
// checked like a cell, even with errors.
func (h *Guide) candidates(before string) (list []session.Candidate) {
	a, path := h.checker.Sketch(before)
	defer h.checker.Forget(a.Cell.Text)
	if path == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil { // incomplete syntax may have any shape
			list = nil
		}
	}()
	return newSuggester(a).offer(path)
}
