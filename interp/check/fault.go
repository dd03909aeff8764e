package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// typesFault is the error for syntax on which package go/types panics.
type typesFault struct{ cause any }

func (e *typesFault) Error() string {
	return fmt.Sprintf("the type checker failed: %v; split the cell or write it in another way", e.cause)
}

// parenthesize puts parentheses around type names from the session that are the whole right side of
// a type declaration, until undo is called. Package go/types panics for such a name if it is in the
// package's scope but not in its files.
func parenthesize(decls []ast.Decl, known names) (undo func()) {
	was := map[*ast.TypeSpec]ast.Expr{}
	for _, d := range decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			s, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if id, ok := s.Type.(*ast.Ident); ok && known.get(id.Name) != nil {
				was[s] = id
				s.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
			}
		}
	}
	return func() {
		for s, t := range was {
			s.Type = t
		}
	}
}

// checkFile makes go/types check a file. Errors go to conf.Error; if go/types panics, checkFile
// returns an error.
func checkFile(conf *types.Config, fset *token.FileSet, pkg *types.Package, info *types.Info, file *ast.File) (fault error) {
	return checkFiles(conf, fset, pkg, info, []*ast.File{file})
}

// checkFiles is checkFile for the files of a package.
func checkFiles(conf *types.Config, fset *token.FileSet, pkg *types.Package, info *types.Info, files []*ast.File) (fault error) {
	defer func() {
		if cause := recover(); cause != nil {
			fault = &typesFault{cause}
		}
	}()
	types.NewChecker(conf, fset, pkg, info).Files(files)
	return nil
}
