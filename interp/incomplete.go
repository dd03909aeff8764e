package interp

// Incomplete reports whether a cell's source may be continued on another line.
func Incomplete(src string) bool { return false }
