package check

import (
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

// A //go:embed directive of a script initialises the variable declared below it with the contents
// of files next to the script. The contents are added as the variable's value before the cell is
// checked.

// embedPrefix begins a directive.
const embedPrefix = "//go:embed"

// embedDirective is a directive of a cell.
type embedDirective struct {
	line, column int // in the cell
	patterns     string
}

// embedDirectives finds the directives of a cell.
func embedDirectives(src string) (list []embedDirective) {
	if !strings.Contains(src, embedPrefix) {
		return nil
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile(FileName, -1, len(src))
	s.Init(file, []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return list
		}
		rest, ok := strings.CutPrefix(lit, embedPrefix)
		if tok == token.COMMENT && ok && strings.HasPrefix(rest, " ") {
			at := file.Position(pos)
			list = append(list, embedDirective{at.Line, at.Column, rest})
		}
	}
}

// embedded is a file named by a directive.
type embedded struct{ name, data string }

// embed adds the values of variables below directives.
func (p *Syntax) embed() *Failure {
	patterns := map[*ast.ValueSpec][]string{}
	for _, d := range embedDirectives(p.cell.Source) {
		v, err := p.embedVariable(d.line, patterns)
		if err == nil {
			var more []string
			more, err = embedPatterns(d.patterns)
			patterns[v] = append(patterns[v], more...)
		}
		if err == nil {
			var files []embedded
			files, err = embeddedFiles(filepath.Dir(p.Name), patterns[v])
			v.Values = []ast.Expr{p.embeddedValue(v, files)}
			if len(files) > 1 && !isEmbedFS(v.Type) {
				err = fmt.Errorf("%d files for one variable; embed.FS holds several", len(files))
			}
		}
		if err != nil {
			e := p.errorOf(session.KindType, []diagnostic{{d.line, d.column, embedPrefix + ": " + err.Error()}})
			return &Failure{Err: e}
		}
	}
	return nil
}

// embedVariable returns the variable declaration below a line. Variables in again already have a
// value from a directive above this one.
func (p *Syntax) embedVariable(line int, again map[*ast.ValueSpec][]string) (*ast.ValueSpec, error) {
	if _, err := os.Stat(p.Name); err != nil {
		return nil, errors.New("it takes files beside a script, and this cell is in none; os.ReadFile and os.DirFS read files of the current folder")
	}
	if !slices.ContainsFunc(p.imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"embed"` }) {
		return nil, errors.New(`it works with import "embed" or import _ "embed"`)
	}
	var below *ast.ValueSpec
	at := math.MaxInt
	consider := func(pos token.Pos, v *ast.ValueSpec) {
		if l, _, ok := p.Position(pos); ok && l > line && l < at {
			below, at = v, l
		}
	}
	for _, d := range p.Decls {
		consider(d.Pos(), nil)
	}
	for _, s := range p.Stmts {
		if !isVarDecl(s) {
			consider(s.Pos(), nil)
			continue
		}
		g := s.(*ast.DeclStmt).Decl.(*ast.GenDecl)
		for _, spec := range g.Specs {
			pos := spec.Pos()
			if !g.Lparen.IsValid() {
				pos = g.Pos()
			}
			consider(pos, spec.(*ast.ValueSpec))
		}
	}
	switch {
	case below == nil:
		return nil, errors.New("the declaration of a variable is expected on the line below")
	case len(below.Names) != 1 || below.Type == nil || len(below.Values) > 0 && again[below] == nil:
		return nil, errors.New("it applies to one variable, declared with a type and without a value")
	}
	return below, nil
}

// isEmbedFS reports whether a type is written as embed.FS.
func isEmbedFS(typ ast.Expr) bool {
	sel, ok := typ.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "FS"
}

// embedPatterns splits the patterns of a directive, which may be quoted.
func embedPatterns(text string) (list []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word := text
		if text[0] == '"' || text[0] == '`' {
			if word, err = strconv.QuotedPrefix(text); err != nil {
				return nil, fmt.Errorf("%s is no quoted text", text)
			}
		} else if i := strings.IndexAny(text, " \t"); i >= 0 {
			word = text[:i]
		}
		text = text[len(word):]
		if unquoted, err := strconv.Unquote(word); err == nil {
			word = unquoted
		}
		list = append(list, word)
	}
	return list, nil
}

// embeddedFiles reads the files in a folder that match patterns, sorted by name. A folder stands
// for the files in it, except for names that begin with a dot or underscore unless the pattern
// begins with "all:".
func embeddedFiles(dir string, patterns []string) ([]embedded, error) {
	files := map[string]string{}
	root := os.DirFS(dir)
	for _, pattern := range patterns {
		glob, all := strings.CutPrefix(pattern, "all:")
		if !fs.ValidPath(glob) {
			return nil, fmt.Errorf("pattern %s: it is a path below the folder of the file, without . and .. in it", pattern)
		}
		names, err := fs.Glob(root, glob)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("pattern %s: there is no such file in %s", pattern, dir)
		}
		for _, name := range names {
			err := fs.WalkDir(root, name, func(at string, d fs.DirEntry, err error) error {
				hidden := at != name && !all && strings.ContainsAny(d.Name()[:1], "._")
				switch {
				case err != nil:
					return err
				case hidden && d.IsDir():
					return fs.SkipDir
				case hidden || d.IsDir():
					return nil
				case !d.Type().IsRegular():
					return fmt.Errorf("%s is no regular file", at)
				}
				if link := linkIn(dir, at); link != "" {
					return fmt.Errorf("%s is a symbolic link, and only files in the folder can be embedded", link)
				}
				data, err := wholefile.Read(filepath.Join(dir, at), "an embedded file", maxEmbedded)
				files[at] = string(data)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	var list []embedded
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, embedded{name, files[name]})
	}
	return list, nil
}

// maxEmbedded is the maximum size of an embedded file, in bytes. It becomes a literal of Go.
const maxEmbedded = session.MaxSource

// linkIn returns the first part of a path below a folder that is a symbolic link, "" if there is none.
func linkIn(dir, path string) string {
	for end := range path + "/" {
		if end < len(path) && path[end] != '/' {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, path[:end])); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return path[:end]
		}
	}
	return ""
}

// embeddedValue returns the value of a variable that holds files.
func (p *Syntax) embeddedValue(v *ast.ValueSpec, files []embedded) ast.Expr {
	pos := v.Type.Pos()
	text := func(s string) ast.Expr {
		return &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(s)}
	}
	if isEmbedFS(v.Type) {
		p.passing[embedName] = compiledPath
		fun := &ast.SelectorExpr{X: &ast.Ident{NamePos: pos, Name: embedName}, Sel: &ast.Ident{NamePos: pos, Name: "EmbedFS"}}
		call := &ast.CallExpr{Fun: fun, Lparen: pos}
		for _, f := range files {
			call.Args = append(call.Args, text(f.name), text(f.data))
		}
		return call
	}
	data := ""
	for _, f := range files {
		data = f.data
	}
	return &ast.CallExpr{Fun: &ast.ParenExpr{Lparen: pos, X: cloneSyntax(v.Type, func(ast.Node) ast.Node { return nil }),
		Rparen: pos}, Lparen: pos, Args: []ast.Expr{text(data)}, Rparen: pos}
}

// embedName is the name of package compiledPath in a cell that embeds an embed.FS. Such a cell has
// the name in a comment.
const embedName = "go:embed"

// compiledPath is the package whose function EmbedFS makes an embed.FS.
const compiledPath = "github.com/symmrepl/symmrepl/interp/generics/compiled"
