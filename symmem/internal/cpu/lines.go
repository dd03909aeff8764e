//go:build linux && (amd64 || arm64)

package cpu

import (
	"debug/dwarf"
	"debug/elf"
	"path"
)

// sourceLine is a position; its file is empty if the position is unknown.
type sourceLine struct {
	file   string
	line   int
	column int // 1-based; 0 if unknown
}

// findLine returns the first position in a wanted file, given its base name, going outwards from
// the innermost frame and through inlined calls.
func findLine(library string, frames []uint64, wanted func(file string) bool) sourceLine {
	f, err := elf.Open(library)
	if err != nil {
		return sourceLine{}
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		return sourceLine{}
	}
	for _, pc := range frames {
		for _, at := range positions(data, pc) {
			if wanted(at.file) {
				return at
			}
		}
	}
	return sourceLine{}
}

// positions returns the position of an address, followed by those of the calls into which it was
// inlined, innermost first, as far as their lines are known.
func positions(data *dwarf.Data, pc uint64) []sourceLine {
	r := data.Reader()
	unit, err := r.SeekPC(pc)
	if err != nil {
		return nil
	}
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return nil
	}
	var out []sourceLine
	if own, ok := lookUp(lines, pc); ok {
		out = append(out, own)
	}
	calls := inlinedCalls(data, r, pc, lines.Files())
	for i := len(calls) - 1; i >= 0; i-- {
		out = append(out, calls[i])
	}
	return out
}

// lookUp reads the whole table. LineReader.SeekPC needs sequences in order, but those of different
// sections are in no order. An instruction that a compiler has merged from several lines has line 0,
// which is none.
func lookUp(lines *dwarf.LineReader, pc uint64) (sourceLine, bool) {
	var previous, e dwarf.LineEntry
	previous.EndSequence = true
	for lines.Next(&e) == nil {
		if !previous.EndSequence && previous.Address <= pc && pc < e.Address && previous.File != nil {
			return sourceLine{path.Base(previous.File.Name), previous.Line, previous.Column}, previous.Line > 0
		}
		previous = e
	}
	return sourceLine{}, false
}

// inlinedCalls returns the positions of the inlined calls that contain pc, outermost first. The
// reader is positioned after the entry of pc's unit.
func inlinedCalls(data *dwarf.Data, r *dwarf.Reader, pc uint64, files []*dwarf.LineFile) []sourceLine {
	var calls []sourceLine
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == dwarf.TagCompileUnit {
			return calls
		}
		if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		if !covers(data, e, pc) {
			r.SkipChildren()
			continue
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			file, _ := e.Val(dwarf.AttrCallFile).(int64)
			line, _ := e.Val(dwarf.AttrCallLine).(int64)
			column, _ := e.Val(dwarf.AttrCallColumn).(int64)
			if file > 0 && int(file) < len(files) && files[file] != nil && line > 0 {
				calls = append(calls, sourceLine{path.Base(files[file].Name), int(line), int(column)})
			}
		}
	}
}

func covers(data *dwarf.Data, e *dwarf.Entry, pc uint64) bool {
	ranges, err := data.Ranges(e)
	if err != nil {
		return false
	}
	for _, r := range ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}
