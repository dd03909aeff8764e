// Package drawing makes the pictures of the tutorials as SVG: the memory of the ranks, arrows of
// puts and signals, circles of waits, rails between hosts, tokens on their way, work beside work. A
// picture has no paper of its own, and its colours stand out from the light and from the dark paper
// of notebooks. The pictures of package picture are on white paper, and the pictures of package
// view show measurements.
package drawing
