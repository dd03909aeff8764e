// Package rank assembles a rank: the interpreter that runs its cells and the symmetric memory
// that the cells use, behind the two interfaces through which a session drives them.
package rank
