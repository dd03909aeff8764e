// Package seam has the interfaces between a world, which core is, and what a world is made of. Core
// implements none of it by name: it calls [Part]s in loops, and what is new is one more of them.
//
// A library, a network or an observer that has a package of its own implements the interfaces there.
// The package imports nothing but the device, and knows no world, no group and no tensor.
package seam
