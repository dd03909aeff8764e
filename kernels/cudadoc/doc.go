// Package cudadoc reads the declarations of CUDA headers, each with its comment, as package go/doc
// does for Go.
//
// A [Reader] reads the headers of one program one after the other, because macros that one header
// defines are used in others. Text in branches that the caller knows to be excluded is not read.
// The reader knows as much of C++ as headers contain at namespace scope: namespaces, templates,
// types with their members, functions, constants, aliases, and macros. A macro that is called where
// a declaration may stand is expanded, so that functions declared by macros are found. Bodies are
// skipped.
//
// The comment of a declaration stands directly above it, or at the end of its line. Declarations
// that follow each other without a blank line share the comment of the first, unless they have one
// of their own. The comment of a file is the one above #pragma once.
//
// The reader never fails: of text that is no C++ it returns what looks like declarations. Work and
// memory are bounded, also if macros expand without end.
package cudadoc
