package interp

import (
	"go/token"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"weak"

	"github.com/traefik/yaegi/interp"
)

// Cells come by the thousand, and most leave nothing but the values of variables. What follows sees to it that the rest of them goes away.

// remember keeps the text of a cell while positions in it may be asked for: as long as yaegi has a tree of it. Instances of a generic function are
// made of its text in later cells.
func (in *Interp) remember(c *compiled) {
	in.cells = append(in.cells, c.cellText)
	if len(c.generics) > 0 {
		return
	}
	for _, p := range []*interp.Program{c.decls, c.main} {
		if p == nil {
			continue
		}
		c.trees++
		root := reflect.ValueOf(p).Elem().FieldByName(programRoot).UnsafePointer()
		// Not by the interpreter itself: it refers to its trees.
		self := weak.Make(in)
		runtime.AddCleanup((*byte)(root), func(t tree) {
			if in := self.Value(); in != nil {
				in.forgetTree(t)
			}
		}, tree{c.cellText, p == c.main})
	}
}

// tree is one of yaegi's of a cell.
type tree struct {
	of   *cellText
	main bool // of its statements
}

// forgetTree notes that a tree of a cell is gone, and drops the cell's text with the last.
func (in *Interp) forgetTree(t tree) {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := t.of
	c.ended = c.ended || t.main
	if c.trees--; c.trees > 0 {
		return
	}
	i := slices.Index(in.cells, c)
	if i < 0 {
		return
	}
	in.cells = slices.Delete(in.cells, i, i+1)
	for _, f := range c.files {
		if f.file != nil {
			in.fset.RemoveFile(f.file)
		}
	}
}

// forgetFilesFrom drops the files of a cell that was refused: all from base on.
func (in *Interp) forgetFilesFrom(base int) {
	for next := in.fset.Base(); base < next; {
		f := in.fset.File(token.Pos(base))
		if f == nil {
			base++
			continue
		}
		base = f.Base() + f.Size() + 1
		in.fset.RemoveFile(f)
	}
}

// leave cleans up after a cell has run.
func (in *Interp) leave(c *compiled) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.inside.forget()
	in.retired = slices.DeleteFunc(append(in.retired, c.retired...), func(s *storage) bool {
		maps.DeleteFunc(s.users, func(c *cellText, declared bool) bool { return c.trees == 0 || c.ended && !declared })
		if s.captured || !s.pointer.IsValid() {
			return true
		}
		if len(s.users) > 0 {
			return false
		}
		s.pointer.Elem().SetZero()
		in.scope.release(s)
		return true
	})
}
