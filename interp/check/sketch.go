package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Placeholder is inserted at the cursor while the source is checked. It is a letter that nobody
// types.
const Placeholder = "\u01c3"

// Sketch checks a source that ends in the middle, possibly with errors, to complete the identifier
// at its end. It returns the nodes from a declaration or statement down to that identifier, or nil
// if there can be none. The caller forgets the files of the attempt.
func (k *Checker) Sketch(before string) (a *Attempt, path []ast.Node) {
	p := k.sketch(before)
	defer func() {
		if v := recover(); v != nil { // incomplete syntax may have any shape
			a, path = &Attempt{Checker: k, Cell: &Cell{Syntax: p}}, nil
		}
	}()
	if path = p.pathTo(Placeholder); path == nil {
		return &Attempt{Checker: k, Cell: &Cell{Syntax: p}}, nil
	}
	return k.sketched(p), path
}

// sketch parses a source that ends in the middle, with the placeholder at the end.
func (k *Checker) sketch(before string) *Syntax {
	closers, _, _ := scanOpen(before + Placeholder)
	// The missing text may belong at the word, before the first closing brace, or after it.
	inner, outer := len(closers), len(closers)
	if i := strings.IndexByte(closers, '}'); i >= 0 {
		inner, outer = i, i+1
	}
	best, reach := "", -1
	for _, fill := range [][3]string{{}, {" {}"}, {":"}, {"", " {}"}, {"()"}, {"", "", "()"}, {"() {}"}, {"", "; {}"}, {" _"}} {
		text := before + Placeholder + fill[0] + closers[:inner] + fill[1] + closers[inner:outer] + fill[2] + closers[outer:]
		errs := parseErrors(text)
		if len(errs) == 0 {
			best = text
			break
		}
		if at := errs[0].Pos.Offset; at > reach {
			best, reach = text, at
		}
	}
	items, _ := Split(best)
	p := &Syntax{Text: &Text{cell: session.Cell{Source: best}, Line: 1}}
	parse := func(header, text, trailer string) *ast.File {
		base := k.fset.Base()
		f, _ := parser.ParseFile(k.fset, FileName, header+text+trailer, parser.SkipObjectResolution)
		p.files = append(p.files, parsedFile{k.fset.File(token.Pos(base)), len(header)})
		return f
	}
	for _, d := range parse(declsHeader, blank(best, items, true), "").Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				p.Decls = append(p.Decls, d)
			}
			for _, s := range d.Specs {
				if i, ok := s.(*ast.ImportSpec); ok {
					p.imports = append(p.imports, i)
				}
			}
		case *ast.FuncDecl:
			if d.Body == nil {
				d.Body = &ast.BlockStmt{Lbrace: d.End(), Rbrace: d.End()}
			}
			if d.Recv == nil || ReceiverName(d) != nil {
				p.Decls = append(p.Decls, d)
			}
		}
	}
	for _, d := range parse(stmtsHeader, blank(best, items, false), "\n}").Decls {
		if f, ok := d.(*ast.FuncDecl); ok && p.Body == nil && f.Body != nil {
			p.Body, p.Stmts = f, f.Body.List
		}
	}
	return p
}

// sketched checks the result of sketch as far as possible. The source may use packages without
// importing them.
func (k *Checker) sketched(p *Syntax) *Attempt {
	auto := map[string]string{}
	for {
		a := k.attempt(p, auto)
		a.tolerant = true
		func() {
			defer k.dropFresh()
			defer a.revert()
			a.run()
		}()
		if !a.missingImports() {
			return a
		}
	}
}

// pathTo returns the nodes from a declaration or statement of the cell down to the identifier with
// a name, or nil if there is none.
func (p *Syntax) pathTo(name string) []ast.Node {
	var path, found []ast.Node
	visit := func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = slices.Clone(path)
		}
		return true
	}
	for _, d := range p.Decls {
		ast.Inspect(d, visit)
	}
	if p.Body != nil {
		ast.Inspect(p.Body.Body, visit)
	}
	return found
}
