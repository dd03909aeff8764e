// Package shown holds the values that a cell shows, which are those of its last expression: the texts
// by which they describe themselves, and the forms in which a front end displays them.
package shown
