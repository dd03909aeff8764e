// Package faults has the faults of the code of cells, worded as Go's: the panics of package reflect
// and of yaegi in Go's words (faults.go), and the checks whose panics name numbers (checks.go).
package faults
