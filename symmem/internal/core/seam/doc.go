// Package seam has the interfaces between a world, which is core, and the parts of a world. Core
// names no part: it calls all [Part]s in loops, and a new library or network is one more part.
//
// A library, a network or an observer that has a package of its own implements the interfaces there.
// The package imports nothing but the device, and knows no world, no group and no tensor.
package seam
