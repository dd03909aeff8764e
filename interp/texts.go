package interp

import (
	"go/token"
	"runtime"
	"slices"
	"weak"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower"
	"github.com/symmrepl/symmrepl/interp/run/trees"
	"github.com/symmrepl/symmrepl/session"
	"github.com/traefik/yaegi/interp"
)

// A session has thousands of cells, and most leave nothing but the values of variables. The
// functions below free everything else, but for the texts of the latest cells.

// keptText is the text of a cell with code that may still run.
type keptText struct {
	*check.Text
	trees  int         // number of yaegi's trees that may have positions in it
	ended  bool        // the tree of its statements is gone, with the function literals in them
	points []textPoint // where its code can stand, if it can be debugged
}

// remember keeps the text of a cell as long as yaegi has a tree of the cell, because positions in
// the text may be looked up. After that the text is one of the past texts for a while. Texts of
// generic functions and of packages are kept for ever: later cells create instances of a generic
// function from its text. The tree of the latest cell is kept until the next cell runs.
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
		runtime.AddCleanup(trees.Of(p), func(t tree) {
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
	in.past.add(c.Text)
	in.forgetPoints(c)
	in.checker.Forget(c.Text)
}

// pastTexts are the texts of cells whose code is gone, from the oldest to the latest. Reports about work
// that has ended, such as the calls of earlier cells, name lines of them.
type pastTexts struct {
	texts []*check.Text
	bytes int
}

// How much pastTexts keeps: about the latest thousand cells of some lines each.
const (
	mostPast  = 1 << 20 // bytes
	pastBytes = 1 << 10 // of a text without its source
)

// add adds a text, and drops the oldest texts if they are too many.
func (p *pastTexts) add(text *check.Text) {
	p.texts = append(p.texts, text)
	p.bytes += pastBytes + text.Len()
	for p.bytes > mostPast {
		p.bytes -= pastBytes + p.texts[0].Len()
		p.texts = slices.Delete(p.texts, 0, 1)
	}
}

// place sets the place of e if the position is in one of the texts.
func (p *pastTexts) place(e *session.Error, at token.Pos) {
	for _, text := range slices.Backward(p.texts) {
		if text.Place(e, at) {
			return
		}
	}
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
	unused, dropped := in.program.Unused(in.runtime.Natives.Kept)
	for _, name := range dropped {
		in.runtime.Yaegi().Drop(name)
	}
	self := weak.Make(in)
	for _, t := range unused {
		in.runtime.Natives.Release(t.Name, t.Type, func() {
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
