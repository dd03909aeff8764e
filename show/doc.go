// Package show prints values as a symmrepl session shows the value of a cell's last expression: in
// Go syntax with the names of types, long ones shortened, values with a String or Error method
// described by that method. Programs written by the session's :export call it; other programs may
// too.
//
// The session's own printer walks the checker's types, because its values do not know the names of
// their types; this package walks the types of reflection. A caller adds by [Typed] the facts that
// reflection does not know (for reflection byte is uint8, and parameters have no names), and by
// [Printer].Names the original names of renamed types.
package show
