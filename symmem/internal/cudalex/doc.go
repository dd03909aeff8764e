// Package cudalex cuts CUDA C++ text into pieces: code, literals, comments, and preprocessor lines.
//
// It expands no macros. Of conditions it knows what its caller knows: text in a branch that certainly does not hold is a piece of
// its own, [Excluded], and is not read for literals and comments.
//
//	Tokens   the code of a text, for a reader of declarations
//	Blank    the text with everything else erased in place, for a search by patterns that keeps lines and columns
package cudalex
