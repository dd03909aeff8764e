// Package drawing has the pictures of the tutorials, an SVG file each: the memory of the ranks, arrows
// of puts and signals, circles of waits, rails between hosts, tokens on their way, work beside work.
//
// A picture has no paper of its own, and its colours stand out from the light and from the dark paper
// of notebooks. The test of the package lists the colours. Ranks, hosts or tokens are told apart by the
// first colours of that list in its order. A filled rect or circle has words in white; grey are words
// on the paper, lines, and boxes without a rank. A solid arrow is data on its way: a put, a load, a
// row. A dashed arrow is a signal on its way, or the rank that a wait waits for.
//
// The pictures of package picture are on white paper, and the pictures of package view show
// measurements.
package drawing
