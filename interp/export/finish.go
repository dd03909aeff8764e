package export

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/recorded"
)

// showSource declares the part of package show that the program uses.
const showSource = `package show

type Printer struct { Names, Fields map[string]string }

func (Printer) Print(values ...any) {}
func Print(values ...any)           {}
func Typed(name string, value any) any { return value }
func Held(value any) any               { return value }
`

// importer imports package show and the packages that cells can import.
type importer struct {
	types.Importer
	show *types.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == showPath {
		return i.show, nil
	}
	return i.Importer.Import(path)
}

// finish turns the text into a program that compiles: unused objects are used or left out. If the
// program still does not check, that is a bug of this package, and an error.
func (p *program) finish(text string) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "show.go", showSource, 0)
	if err != nil {
		return nil, err
	}
	show, err := (&types.Config{}).Check(showPath, fset, []*ast.File{f}, nil)
	if err != nil {
		return nil, err
	}
	for range 3 {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "main.go", text, parser.SkipObjectResolution)
		if err != nil {
			return nil, p.mistake(err, text)
		}
		var unused []types.Error
		var wrong error
		conf := types.Config{Importer: importer{p.checker.Packages(), show}, Error: func(err error) {
			e, ok := err.(types.Error)
			if ok && e.Soft && (strings.Contains(e.Msg, "and not used") || strings.HasPrefix(e.Msg, "label ")) {
				unused = append(unused, e)
			} else if wrong == nil {
				wrong = err
			}
		}}
		conf.Check("main", fset, []*ast.File{f}, nil)
		if wrong != nil {
			return nil, p.mistake(wrong, text)
		}
		if len(unused) == 0 {
			break
		}
		var e edits
		for _, u := range unused {
			// import of a failed cell
			if i := slices.IndexFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Pos() == u.Pos }); i >= 0 {
				e.replace(fset.Position(u.Pos).Offset, fset.Position(f.Imports[i].End()).Offset, "")
				continue
			}
			use(f, u.Pos, func(pos token.Pos) int { return fset.Position(pos).Offset }, &e)
		}
		text = e.apply(text, 0, len(text))
	}
	out, err := format.Source([]byte(text))
	if err != nil {
		return nil, p.mistake(err, text)
	}
	return out, nil
}

func (p *program) mistake(err error, text string) error {
	return &recorded.Error{Msg: "the program would not compile: " + err.Error(),
		Hint: "this should not happen; please report the session's cells, which :save writes"}
}

// use makes the variable or label that is defined at pos used, or removes the label.
func use(f *ast.File, pos token.Pos, offset func(token.Pos) int, e *edits) {
	var path []ast.Node // from the file to the identifier
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return false
		}
		path = append(path, n)
		if id, ok := n.(*ast.Ident); ok && id.Pos() == pos {
			found = append([]ast.Node{}, path...)
		}
		return true
	})
	if len(found) < 2 {
		return
	}
	name := found[len(found)-1].(*ast.Ident).Name
	for i := len(found) - 2; i > 0; i-- {
		s, isStmt := found[i].(ast.Stmt)
		if !isStmt {
			continue
		}
		if l, ok := s.(*ast.LabeledStmt); ok {
			if l.Label.Pos() == pos {
				e.replace(offset(l.Pos()), offset(l.Colon)+1, "")
				return
			}
			continue
		}
		at := token.NoPos
		switch parent := found[i-1].(type) {
		case *ast.BlockStmt:
			at = s.End()
		case *ast.CaseClause:
			at = s.End()
		case *ast.CommClause:
			if at = s.End(); parent.Comm == s {
				at = parent.Colon + 1
			}
		case *ast.LabeledStmt:
			at = s.End()
		case *ast.IfStmt:
			at = parent.Body.Lbrace + 1
		case *ast.ForStmt:
			at = parent.Body.Lbrace + 1
		case *ast.RangeStmt:
			at = parent.Body.Lbrace + 1
		case *ast.TypeSwitchStmt:
			if a, ok := s.(*ast.AssignStmt); ok && parent.Assign == s { // x := y.(type) without x
				e.replace(offset(a.Lhs[0].Pos()), offset(a.Rhs[0].Pos()), "")
				return
			}
			at = firstClause(parent.Body)
		case *ast.SwitchStmt:
			at = firstClause(parent.Body)
		}
		if r, ok := s.(*ast.RangeStmt); ok && pos < r.Body.Pos() {
			at = r.Body.Lbrace + 1
		}
		if at.IsValid() {
			e.replace(offset(at), offset(at), "\n_ = "+name+"\n")
			return
		}
	}
}

// firstClause returns the position where the statements of a switch's first clause begin.
func firstClause(body *ast.BlockStmt) token.Pos {
	for _, s := range body.List {
		if c, ok := s.(*ast.CaseClause); ok {
			return c.Colon + 1
		}
	}
	return token.NoPos
}
