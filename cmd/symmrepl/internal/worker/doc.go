// Package worker puts together what one rank is made of: the interpreter that runs its cells and the
// symmetric memory those cells use, behind the two interfaces by which a session drives them.
package worker
