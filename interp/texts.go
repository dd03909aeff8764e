package interp

import (
	"go/token"
	"runtime"
	"slices"
	"weak"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower"
	"github.com/symmrepl/symmrepl/interp/run"
	"github.com/traefik/yaegi/interp"
)

// A session has thousands of cells, and most leave nothing but the values of variables. The
// functions below free everything else.

// keptText is the text of a cell whose positions may still be looked up.
type keptText struct {
	*check.Text
	trees  int         // number of yaegi's trees that may have positions in it
	ended  bool        // the tree of its statements is gone, with the function literals in them
	points []textPoint // where its code can stand, if it can be debugged
}

// remember keeps the text of a cell while positions in it may be looked up, which is as long as
// yaegi has a tree of it. Later cells create instances of a generic function from its text, and the
// texts of packages are kept for ever. The tree of the latest cell is kept until the next cell
// runs.
func (in *Interp) remember(c *compiled) {
	for _, text := range c.Texts() {
		in.texts[text] = &keptText{Text: text}
	}
	in.latest = c.main
	if len(c.Generics) > 0 || c.Package != nil {
		return
	}
	text := in.texts[c.Text]
	for _, p := range []*interp.Program{c.decls, c.main} {
		if p == nil {
			continue
		}
		text.trees++
		// A weak pointer, because the interpreter refers to its trees.
		self := weak.Make(in)
		runtime.AddCleanup(run.Tree(p), func(t tree) {
			if in := self.Value(); in != nil {
				in.forgetTree(t)
			}
		}, tree{text, p == c.main})
	}
}

// tree is one of yaegi's trees of a cell.
type tree struct {
	of   *keptText
	main bool // it is the tree of the cell's statements
}

// forgetTree notes that a tree of a cell is gone. If it was the last, it drops the cell's text.
func (in *Interp) forgetTree(t tree) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.freed = true
	c := t.of
	c.ended = c.ended || t.main
	if c.trees--; c.trees > 0 {
		return
	}
	delete(in.texts, c.Text)
	in.forgetPoints(c)
	in.checker.Forget(c.Text)
}

// forgetFilesFrom drops the files of a rejected cell: all files from base on.
func (in *Interp) forgetFilesFrom(base int) {
	files := in.checker.Files()
	for next := files.Base(); base < next; {
		f := files.File(token.Pos(base))
		if f == nil {
			base++
			continue
		}
		base = f.Base() + f.Size() + 1
		files.RemoveFile(f)
	}
}

// leave cleans up after a cell has run.
func (in *Interp) leave(c *compiled) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.runtime.Yaegi().Forget()
	if in.freed {
		in.program.DropUsers(in.gone)
	}
	if c.retired != nil || in.freed {
		in.retired = slices.DeleteFunc(append(in.retired, c.retired...),
			func(s *lower.Storage) bool { return in.program.Reclaim(s, in.gone) })
		in.freed = false
	}
	in.releaseTypes()
}

// releaseTypes releases types to which nothing in the session refers any more.
func (in *Interp) releaseTypes() {
	unused, dropped := in.program.Unused(in.runtime.Kept)
	for _, name := range dropped {
		in.runtime.Yaegi().Drop(name)
	}
	self := weak.Make(in)
	for _, t := range unused {
		in.runtime.Release(t.Name, t.Type, func() {
			if in := self.Value(); in != nil {
				in.mu.Lock()
				defer in.mu.Unlock()
				in.program.Forget(t)
			}
		})
	}
}

// gone reports whether the functions of a cell can no longer run: all of them, or only those that
// the cell does not declare.
func (in *Interp) gone(text *check.Text, declared bool) bool {
	kept := in.texts[text]
	return kept == nil || kept.ended && !declared
}
