package interp

import (
	"go/ast"
	"go/types"
	"slices"
)

// Cells come by the thousand, and most leave nothing but the values of variables. What follows sees to it that the rest of them goes away.

// remember keeps the text of a cell while positions in it may be asked for: as long as it runs, and as long as its functions live.
func (in *Interp) remember(c *checked) {
	for _, obj := range c.objects {
		if fn, ok := obj.(*types.Func); ok {
			in.functions[fn] = c.cellText
			c.live++
		}
	}
	for _, d := range c.decls {
		if f, ok := d.(*ast.FuncDecl); ok && (f.Recv != nil || f.Name.Name == "init") {
			c.forever = true
		}
	}
	for _, s := range c.stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			_, isLit := n.(*ast.FuncLit)
			c.forever = c.forever || isLit
			return !c.forever
		})
	}
	in.cells = append(in.cells, c.cellText)
}

// forgetFunction notes that a function's name means something else now.
func (in *Interp) forgetFunction(fn *types.Func) {
	c := in.functions[fn]
	if c == nil {
		return
	}
	delete(in.functions, fn)
	c.live--
	in.forgetText(c)
}

// forgetText drops the text of a cell if nothing of it can run any more.
func (in *Interp) forgetText(c *cellText) {
	if c.live > 0 || c.forever {
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

// leave cleans up after a cell has run.
func (in *Interp) leave(c *compiled) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.inside.forget()
	in.forgetText(c.cellText)
	for _, s := range c.retired {
		if !s.captured && s.pointer.IsValid() {
			s.pointer.Elem().SetZero()
			in.scope.release(s)
		}
	}
}
