package interp

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Files of the interpreter's FileSet all have this name: yaegi resolves imports by file name, and so one import serves all cells.
const fileName = "cells"

// The headers that make a file of a cell's declarations, and the body of a function of its statements. Text follows on the
// same line, so lines are the cell's own.
const (
	declsHeader = "package main;"
	stmtsHeader = "package main;func main(){"
)

// cellText is the source of a cell and where it lies in the FileSet.
type cellText struct {
	cell  session.Cell
	name  string
	line  int // of the first line
	files []parsedFile

	trees int  // of yaegi, in which positions in it may be
	ended bool // the tree of its statements is gone, and with it the function literals in them
}

type parsedFile struct {
	file   *token.File
	header int // bytes before the cell's own
}

// parsed is a cell as syntax.
type parsed struct {
	*cellText
	imports []*ast.ImportSpec
	decls   []ast.Decl // functions, types, constants
	stmts   []ast.Stmt
	body    *ast.FuncDecl // holds stmts
	list    []ast.Expr    // the cell ends with
}

// item is a piece of a cell between two top-level semicolons.
type item struct {
	start, end int
	decl       bool
	list       bool // of expressions, at the end of the cell
}

// parse splits a cell and parses it.
func (in *Interp) parse(cell session.Cell) (*parsed, *session.Error) {
	text := &cellText{cell: cell, name: cell.Name, line: max(cell.Line, 1)}
	if text.name == "" {
		text.name = fmt.Sprintf("cell[%d]", cell.ID)
	}
	p := &parsed{cellText: text}
	items, errs := split(cell.Source)
	if errs != nil {
		return nil, text.syntaxError(errs, 0)
	}
	decls, err := p.parseFile(in.fset, declsHeader, blank(cell.Source, items, true), "")
	if err != nil {
		return nil, text.syntaxError(err, len(declsHeader))
	}
	singles, list := items, false
	if n := len(items) - 1; n >= 0 && items[n].list {
		singles, list = items[:n], true
	}
	stmts, err := p.parseFile(in.fset, stmtsHeader, blank(cell.Source, singles, false), "\n}")
	if err != nil {
		return nil, text.syntaxError(err, len(stmtsHeader))
	}
	for _, d := range decls.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for _, s := range g.Specs {
				p.imports = append(p.imports, s.(*ast.ImportSpec))
			}
			continue
		}
		p.decls = append(p.decls, d)
	}
	p.body = stmts.Decls[0].(*ast.FuncDecl)
	if list {
		if err := p.parseList(in.fset, cell.Source, items); err != nil {
			return nil, text.syntaxError(err, len(listHeader))
		}
	}
	p.stmts = p.body.Body.List
	in.begin(p)
	return p, nil
}

func (p *parsed) parseFile(fset *token.FileSet, header, src, trailer string) (*ast.File, scanner.ErrorList) {
	base := fset.Base()
	f, err := parser.ParseFile(fset, fileName, header+src+trailer, parser.SkipObjectResolution|parser.AllErrors)
	p.files = append(p.files, parsedFile{fset.File(token.Pos(base)), len(header)})
	if err != nil {
		list, ok := err.(scanner.ErrorList)
		if !ok {
			list = scanner.ErrorList{{Msg: err.Error()}}
		}
		return nil, list
	}
	return f, nil
}

// split finds the top-level items of a cell and which of them are declarations that Go allows only outside of functions, or that
// must be there to have methods.
func split(src string) ([]item, scanner.ErrorList) {
	var (
		s       scanner.Scanner
		items   []item
		errs    scanner.ErrorList
		tokens  []token.Token // of the current item
		last    []token.Token // of the last one
		end     int           // of its last token
		start   = -1
		depth   int
		head    bool // the item is or ends with an if, for or switch, in the head of which semicolons separate nothing
		file    = token.NewFileSet().AddFile(fileName, -1, len(src))
		onError = func(pos token.Position, msg string) { errs.Add(pos, msg) }
	)
	s.Init(file, []byte(src), onError, 0)
	for {
		pos, tok, lit := s.Scan()
		offset := file.Offset(pos)
		switch tok {
		case token.LBRACE, token.LPAREN, token.LBRACK:
			depth++
		case token.RBRACE, token.RPAREN, token.RBRACK:
			depth--
			if depth < 0 {
				errs.Add(file.Position(pos), "syntax error: unexpected "+tok.String())
				return nil, errs
			}
		}
		head = head || depth == 0 && (tok == token.IF || tok == token.FOR || tok == token.SWITCH)
		if tok == token.EOF || tok == token.SEMICOLON && depth == 0 && !(head && lit == ";" && !isWhole(src[start:offset])) {
			if start >= 0 {
				if lit == ";" { // otherwise a comment may come before what ends the line, or go on beyond it
					end = offset
				}
				items = append(items, item{start: start, end: end, decl: isDecl(tokens)})
				last = tokens
			}
			if tok == token.EOF {
				if n := len(items) - 1; n >= 0 && !items[n].decl && isList(last) {
					items[n].list = true
				}
				return items, errs
			}
			start, tokens, head = -1, nil, false
			continue
		}
		if start < 0 {
			start = offset
		}
		tokens = append(tokens, tok)
		end = tokenEnd(src, offset, tok, lit)
	}
}

// tokenEnd returns where the token at an offset ends. The semicolon at the end of a line has no text; the literal of a raw string lacks its carriage
// returns.
func tokenEnd(src string, offset int, tok token.Token, lit string) int {
	switch {
	case tok == token.SEMICOLON && lit == "\n":
		return offset
	case lit == "":
		return offset + len(tok.String())
	case lit[0] == '`':
		return offset + strings.IndexByte(src[offset+1:], '`') + 2
	}
	return offset + len(lit)
}

// isWhole reports whether a text is a statement that does not end in its head.
func isWhole(text string) bool {
	_, err := parser.ParseFile(token.NewFileSet(), fileName, stmtsHeader+text+"\n}", parser.SkipObjectResolution)
	return err == nil
}

// isDecl tells import, type, const, func f and func (r) f from statements. A function literal that starts a statement is one of those.
func isDecl(tokens []token.Token) bool {
	switch tokens[0] {
	case token.IMPORT, token.TYPE, token.CONST, token.PACKAGE:
		return true
	case token.FUNC:
		if len(tokens) < 2 || tokens[1] == token.IDENT {
			return true
		}
		// func (receiver) name ( or [
		depth := 0
		for i, t := range tokens[1:] {
			switch t {
			case token.LPAREN, token.LBRACK, token.LBRACE:
				depth++
			case token.RPAREN, token.RBRACK, token.RBRACE:
				depth--
			}
			if depth == 0 {
				rest := tokens[i+2:]
				return len(rest) >= 2 && rest[0] == token.IDENT && rest[1] == token.LPAREN
			}
		}
	}
	return false
}

// blank returns src with the items that are (or are not) declarations kept and all other bytes but newlines replaced by spaces.
func blank(src string, items []item, decls bool) string {
	b := []byte(src)
	clear := func(from, to int) {
		for j := from; j < to; j++ {
			if b[j] != '\n' {
				b[j] = ' '
			}
		}
	}
	last := 0
	for _, it := range items {
		clear(last, it.start) // empty statements and comments
		last = it.end
		switch {
		case it.decl != decls:
			clear(it.start, it.end)
		case last < len(src) && src[last] == ';':
			last++
		}
	}
	clear(last, len(src))
	return string(b)
}

// position finds where in the user's text pos is.
func (c *cellText) position(pos token.Pos) (line, column int, ok bool) {
	for _, f := range c.files {
		if f.file != nil && int(pos) >= f.file.Base() && int(pos) <= f.file.Base()+f.file.Size() {
			p := f.file.PositionFor(pos, false)
			line, column = p.Line, p.Column
			if line == 1 {
				column -= f.header
			}
			return line, max(column, 1), true
		}
	}
	return 0, 0, false
}

// place matches a position in a message of go/types; what tells where a type parameter is declared, perhaps in another cell, is left out.
var place = regexp.MustCompile(` \(declared at ` + fileName + `:\d+:\d+\)|\b` + fileName + `:(\d+):(\d+)`)

// withPlaces writes the positions of declarations in a message as those of the cell.
func (c *cellText) withPlaces(msg string) string {
	return place.ReplaceAllStringFunc(msg, func(s string) string {
		m := place.FindStringSubmatch(s)
		if m[1] == "" {
			return ""
		}
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		if line == 1 {
			column -= len(declsHeader)
		}
		return fmt.Sprintf("%s:%d:%d", c.name, c.line+line-1, column)
	})
}

// sourceLine returns line n (from 1) of the cell.
func (c *cellText) sourceLine(n int) string {
	lines := strings.Split(c.cell.Source, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}

// maxErrors is how many errors of a cell are listed.
const maxErrors = 10

// diagnostic is an error with its place in the cell.
type diagnostic struct {
	line, column int
	msg          string
}

func (c *cellText) syntaxError(errs scanner.ErrorList, header int) *session.Error {
	var list []diagnostic
	missing := ""
	for _, e := range errs {
		column, msg := e.Pos.Column, e.Msg
		if e.Pos.Line == 1 {
			column -= header
		}
		line := e.Pos.Line
		if n := strings.Count(c.cell.Source, "\n") + 1; line > n || e.Pos.Offset-header >= len(c.cell.Source) {
			line, column = n, len(c.sourceLine(n))+1
			msg = atEnd.Replace(msg)
			if len(list) > 0 { // it follows from an earlier error
				continue
			}
			missing, _, _ = scanOpen(c.cell.Source)
		}
		list = append(list, diagnostic{line, max(column, 1), msg})
	}
	e := c.errorOf(session.KindSyntax, list)
	e.Hint = syntaxHint(e, missing)
	return e
}

// atEnd calls the end of a cell by its name: what the parser finds there was added to parse it.
var atEnd = strings.NewReplacer("found '}'", "found the end of the cell", "found 'EOF'", "found the end of the cell")

// errorOf makes an error of diagnostics: the first is its message, the others its detail.
func (c *cellText) errorOf(kind session.Kind, list []diagnostic) *session.Error {
	slices.SortStableFunc(list, func(a, b diagnostic) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	list = slices.CompactFunc(list, func(a, b diagnostic) bool { return a.line == b.line && a.msg == b.msg })
	first := list[0]
	e := &session.Error{Kind: kind, Peer: -1, File: c.name, Line: c.line + first.line - 1, Column: first.column,
		Msg: first.msg, Source: c.sourceLine(first.line)}
	var others []string
	for i, d := range list[1:] {
		if i+1 == maxErrors {
			others = append(others, "too many errors")
			break
		}
		at := session.Error{File: c.name, Line: c.line + d.line - 1, Column: d.column, Msg: d.msg}
		others = append(others, at.Error())
	}
	e.Detail = strings.Join(others, "\n")
	return e
}

// errorAt makes an error at a place of the cell.
func (c *cellText) errorAt(kind session.Kind, pos token.Pos, msg string) *session.Error {
	line, column, ok := c.position(pos)
	if !ok {
		return &session.Error{Kind: kind, Peer: -1, File: c.name, Line: c.line, Msg: msg, Source: c.sourceLine(1)}
	}
	return c.errorOf(kind, []diagnostic{{line, column, msg}})
}
