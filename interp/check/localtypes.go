package check

import (
	"go/ast"
	"go/token"
	"slices"
)

// Go numbers the types that functions declare, in the order of the source: as type arguments they are told apart by that.

// noteLocals notes which types the functions of a file declare.
func (c *Text) noteLocals(file parsedFile, decls []ast.Decl) {
	for _, d := range decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.VAR {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && !s.Assign.IsValid() {
				c.locals = append(c.locals, file.offset(s.Name.Pos()))
			}
			return true
		})
	}
	slices.Sort(c.locals)
}

// offset returns how many bytes of the user's text are before pos, which is in the file.
func (f parsedFile) offset(pos token.Pos) int { return f.file.Offset(pos) - f.header }

// LocalType returns the number of a type that a function of the text declares at pos, 0 if there is none.
func (c *Text) LocalType(pos token.Pos) int {
	for _, f := range c.files {
		if f.file != nil && f.file.Base() <= int(pos) && int(pos) <= f.file.Base()+f.file.Size() {
			if i, ok := slices.BinarySearch(c.locals, f.offset(pos)); ok {
				return i + 1
			}
		}
	}
	return 0
}

// LocalType returns the number of a type that a function of the cell declares at pos, 0 if there is none. The files of a package are numbered through.
func (c *Cell) LocalType(pos token.Pos) int {
	before := 0
	for _, text := range c.Texts() {
		if number := text.LocalType(pos); number > 0 {
			return before + number
		}
		before += len(text.locals)
	}
	return 0
}
