package cudadoc

import (
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// Kind is the kind of a declaration.
type Kind string

// Kinds of declarations. Constants include enumerators, and fields are members of types.
const (
	Function Kind = "function"
	Type     Kind = "type"
	Constant Kind = "constant"
	Macro    Kind = "macro"
	Field    Kind = "field"
)

// Decl is one declaration.
type Decl struct {
	Name  string // with namespaces and types: "symm::Handle::pad"
	Kind  Kind
	Code  string // without the body of a function; a type has its public members
	Text  string // the comment, without slashes
	Own   bool   // the comment is this declaration's own
	Group int    // declarations that share a comment have the same number, which is not 0
	Line  int    // in the file; of the macro's use if a macro declares it

	Members []Decl   // of a type: those that are public
	Bases   []string // of a type, as written
	Gives   string   // the type of a field, or what a function returns, as written
}

// File is one header.
type File struct {
	Name, Text string // Text is the comment above #pragma once
	Includes   []string
	Decls      []Decl
}

// Reader reads headers.
type Reader struct {
	known  cudalex.Known
	macros map[string]*macro
}

// NewReader returns a reader. The macros of all texts are known from the beginning; where a macro
// is defined again, the definition above its use holds.
func NewReader(known cudalex.Known, texts ...string) *Reader {
	r := &Reader{known, map[string]*macro{}}
	for _, text := range texts {
		for _, piece := range cudalex.Pieces(text, known) {
			if m, name, ok := define(piece); ok {
				r.macros[name] = m
			}
		}
	}
	return r
}

// Bounds of what one file may take.
const (
	maxExpansion = 1 << 20 // bytes of expanded macros
	maxDepth     = 32      // scopes and expansions within each other
)

// Read reads a header.
func (r *Reader) Read(name, text string) File {
	f := File{Name: name}
	left, groups := maxExpansion, 1
	p := &parser{reader: r, file: &f, text: text, pieces: cudalex.Pieces(text, r.known), left: &left, groups: &groups, group: 1,
		out: &f.Decls}
	p.scope()
	return f
}

// comment returns the text of a comment's piece.
func comment(text string) string {
	if rest, ok := strings.CutPrefix(text, "//"); ok {
		return strings.TrimRight(strings.TrimPrefix(rest, " "), " \t\r\\")
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")
	return strings.Join(strings.Fields(text), " ")
}
