// Package notebook turns the outcome of entries into the outputs of notebooks.
//
// A [Screen] is the console.Printer of one entry. It publishes messages in the form of Jupyter's
// messaging protocol: text as streams, gathered for a moment so that many small prints become few
// messages; displays and the session's remarks as display data, of which later ones replace earlier
// ones; values, folded by rank and also in their rich forms, as a result; and the first error as
// the entry's failure. Package jupyter sends them to the front ends of a kernel, package serve to a
// Python program.
package notebook
