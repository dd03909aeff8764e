package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Parse splits a cell and parses it.
func (k *Checker) Parse(cell session.Cell) (*Syntax, *Failure) {
	text := &Text{cell: cell, Name: cell.Name, Line: max(cell.Line, 1)}
	if text.Name == "" {
		text.Name = fmt.Sprintf("cell[%d]", cell.ID)
	}
	p := &Syntax{Text: text, passing: map[string]string{}}
	maps.Copy(p.passing, cell.Imports)
	items, errs := Split(cell.Source)
	if errs != nil {
		return nil, text.syntaxError(errs, 0)
	}
	var decls []ast.Decl
	if slices.ContainsFunc(items, func(it Item) bool { return it.Decl }) {
		file, err := p.parseFile(k.fset, declsHeader, blank(cell.Source, items, true), "")
		if err != nil {
			return nil, text.syntaxError(err, len(declsHeader))
		}
		decls = file.Decls
	}
	p.Quiet = len(items) > 0 && items[len(items)-1].quiet
	singles, list := items, false
	if n := len(items) - 1; n >= 0 && items[n].list {
		singles, list = items[:n], true
	}
	body := ""
	if slices.ContainsFunc(singles, func(it Item) bool { return !it.Decl }) {
		body = blank(cell.Source, singles, false)
	}
	stmts, err := p.parseFile(k.fset, stmtsHeader, body, "\n}")
	if err != nil {
		return nil, text.syntaxError(err, len(stmtsHeader))
	}
	for _, d := range decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for _, s := range g.Specs {
				p.imports = append(p.imports, s.(*ast.ImportSpec))
			}
			continue
		}
		p.Decls = append(p.Decls, d)
	}
	p.Body = stmts.Decls[0].(*ast.FuncDecl)
	if list {
		if err := p.parseList(k.fset, cell.Source, items); err != nil {
			return nil, text.syntaxError(err, len(listHeader))
		}
	}
	p.Stmts = p.Body.Body.List
	if failed := p.embed(); failed != nil {
		return nil, failed
	}
	k.arrange(p)
	return p, nil
}

func (p *Syntax) parseFile(fset *token.FileSet, header, src, trailer string) (*ast.File, scanner.ErrorList) {
	base := fset.Base()
	f, err := parser.ParseFile(fset, FileName, header+src+trailer, parser.SkipObjectResolution|parser.AllErrors)
	p.files = append(p.files, parsedFile{fset.File(token.Pos(base)), len(header)})
	if err != nil {
		list, ok := err.(scanner.ErrorList)
		if !ok {
			list = scanner.ErrorList{{Msg: err.Error()}}
		}
		return nil, list
	}
	if strings.Contains(src, token.TYPE.String()) {
		p.noteLocals(p.files[len(p.files)-1], f.Decls)
	}
	return f, nil
}
