package check

import (
	"go/ast"
	"go/token"
	"slices"
)

// Go numbers the types that functions declare, in the order of the source. The numbers distinguish
// them in type arguments.

// noteLocals records the types that the functions of a file declare.
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

// offset returns the offset in the user's text of pos, which is in the file.
func (f parsedFile) offset(pos token.Pos) int { return f.file.Offset(pos) - f.header }

// LocalType returns the number of the type that a function of the text declares at pos, or 0 if
// there is none.
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

// LocalType returns the number of the type that a function of the cell declares at pos, or 0 if
// there is none. In a package, the numbers continue from file to file.
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
