// Package show prints values as a symmrepl session shows the value of a cell's last expression: in Go syntax with the
// names of types, long ones shortened, values that describe themselves (by String or Error) in their own words. Programs that
// the session's :export writes call it; others may.
//
// The session's own printer walks the checker's types, because its values do not know what their types are called; this one
// walks those of reflection. What reflection does not know (byte is uint8 there, and parameters have no names) a caller adds by
// [Typed], and what a type was called that had to be renamed by [Printer].Names.
package show
