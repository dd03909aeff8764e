// Package seam has the interfaces between a world, which is core, and the parts of a world. Core
// names no part: it calls all [Part]s in loops, and a new library or network is one more part.
//
// A library or a network that has a package of its own implements [Part] there, and [Library] if it
// carries calls; one that only hears of calls implements [Observer]. What it knows of the world is
// [Members], [Memory], [Request] and [Sight]; what it refuses is a [Refusal]. The package imports nothing
// but the device and leaves below it, and knows no world, no group and no tensor.
package seam
