package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"

	"github.com/symmrepl/symmrepl/session"
)

// parsedFile is a file made of a part of a cell for parsing.
type parsedFile struct {
	file   *token.File
	header int // bytes before the cell's text
}

// Position returns the line and column of pos in the source of the cell.
func (c *Text) Position(pos token.Pos) (line, column int, ok bool) {
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

// place matches a position in a message of go/types. The declaration of a type parameter, which may
// be in another cell, is left out of messages.
var place = regexp.MustCompile(` \(declared at ` + FileName + `:\d+:\d+\)|\b` + FileName + `:(\d+):(\d+)`)

// TextOf returns the text that contains a position, for a package the text of one of its files.
func (c *Cell) TextOf(pos token.Pos) *Text {
	for _, text := range c.texts {
		if _, _, ok := text.Position(pos); ok {
			return text
		}
	}
	return c.Text
}

// Texts returns the texts that may contain code of the cell.
func (c *Cell) Texts() []*Text {
	if c.texts == nil {
		return []*Text{c.Text}
	}
	return c.texts
}

// Cell returns the number of the cell.
func (c *Text) Cell() int { return c.cell.ID }

// withPlaces replaces positions of declarations in a message by those in the cell.
func (c *Text) withPlaces(msg string) string {
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
		line, column, _ = c.cell.Place(line, column)
		return fmt.Sprintf("%s:%d:%d", c.Name, line, column)
	})
}

// Len returns the number of bytes of the cell's source and of the user's text.
func (c *Text) Len() int { return len(c.cell.Source) + len(c.cell.Typed) }

// SourceLine returns line n (from 1) of the cell, as the user entered it.
func (c *Text) SourceLine(n int) string {
	_, _, text := c.cell.Place(n, 1)
	return text
}

// Offset returns the offset of pos in the cell's text, or -1 if it is elsewhere.
func (c *Text) Offset(pos token.Pos) int {
	for _, f := range c.files {
		if f.file != nil && int(pos) >= f.file.Base() && int(pos) <= f.file.Base()+f.file.Size() {
			return f.file.Offset(pos) - f.header
		}
	}
	return -1
}

// Trail returns the files by which a Trail maps positions to offsets in the cell's text.
func (c *Text) Trail() (files [2]session.TrailFile) {
	for i, f := range c.files {
		if f.file != nil && i < len(files) {
			files[i] = session.TrailFile{Base: f.file.Base(), Size: f.file.Size(), Header: f.header}
		}
	}
	return files
}

// FunctionAt returns the name of the cell's function that contains a position, or a description of
// it.
func (c *Text) FunctionAt(at token.Pos) string {
	line, column, _ := c.Position(at)
	const header = "package main\n"
	fset := token.NewFileSet()
	items, _ := Split(c.cell.Source)
	file, _ := parser.ParseFile(fset, "", header+blank(c.cell.Source, items, true), parser.SkipObjectResolution)
	if file == nil {
		return "a function"
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		start, end := fset.Position(f.Pos()), fset.Position(f.End())
		here := token.Position{Line: line + 1, Column: column}
		if before(start, here) && before(here, end) {
			return f.Name.Name
		}
	}
	return "a function literal"
}

func before(a, b token.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column <= b.Column
}

// Place sets the place of e if the position is in c, and reports whether it is.
func (c *Text) Place(e *session.Error, at token.Pos) bool {
	line, column, ok := c.Position(at)
	if ok {
		e.File = c.Name
		e.Line, e.Column, e.Source = c.cell.Place(line, column)
	}
	return ok
}

// Files of the interpreter's FileSet all have this name: yaegi resolves imports by file name, and
// so one import serves all cells.
const FileName = "cells"

// The headers that turn a cell's declarations into a file, and its statements into the body of a
// function. The cell's text follows on the same line, so line numbers agree with the cell's.
const (
	declsHeader = "package main;"
	stmtsHeader = "package main;func main(){"
)

// diagnostic is an error with its place in the cell.
type diagnostic struct {
	line, column int
	msg          string
}
