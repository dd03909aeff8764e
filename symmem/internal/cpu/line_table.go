//go:build linux && (amd64 || arm64)

package cpu

import (
	"debug/dwarf"
	"debug/elf"
	"strings"
)

// lineTable finds positions in one library.
type lineTable struct{ data *dwarf.Data }

// openLines returns the line table of a library, or an empty one if it cannot be read.
func openLines(library string) *lineTable {
	f, err := elf.Open(library)
	if err != nil {
		return &lineTable{}
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return &lineTable{}
	}
	return &lineTable{data}
}

// find returns the innermost position of an address in the snippet, or in an operation's own
// source; if there is none, the innermost position of all.
func (t *lineTable) find(pc uint64, snippet bool) sourceLine {
	if t.data == nil {
		return sourceLine{}
	}
	all := positions(t.data, pc)
	for _, at := range all {
		if snippet && at.file == snippetFile || !snippet && strings.HasSuffix(at.file, ".cu") {
			return at
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return sourceLine{}
}
