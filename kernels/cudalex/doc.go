// Package cudalex splits CUDA C++ text into pieces: code, literals, comments, and preprocessor
// lines.
//
// It does not expand macros. The caller evaluates conditions: text in a branch that is certainly
// excluded becomes pieces of kind [Excluded], and is not searched for literals and comments.
//
//	Tokens   returns the code of a text, for parsing declarations
//	Pieces   returns all pieces, for programs that read comments or rewrite a text
//	Blank    returns the text with everything else replaced by spaces, for pattern searches with unchanged lines and columns
package cudalex
