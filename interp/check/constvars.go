package check

import (
	"go/ast"
	"go/token"
	"maps"
)

// varsOfConstants returns the variable declarations at the beginning of a cell whose names the
// cell's constants use: the length of an array is constant.
func (c *Cell) varsOfConstants() (vars []ast.Decl) {
	if len(c.Stmts) == 0 || !isVarDecl(c.Stmts[0]) {
		return nil
	}
	used := map[string]bool{}
	for _, d := range c.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			maps.Copy(used, namesIn(g))
		}
	}
	for _, s := range c.Stmts {
		if !isVarDecl(s) {
			break
		}
		for _, id := range definedNames(s) {
			if used[id.Name] {
				vars = append(vars, s.(*ast.DeclStmt).Decl)
				break
			}
		}
	}
	return vars
}
