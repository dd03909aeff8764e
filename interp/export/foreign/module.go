package foreign

import (
	"embed"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/recorded"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
)

// runtime are the files that go with exported modules.
//
//go:embed runtime
var runtime embed.FS

// runtimeFile returns one of them.
func runtimeFile(name string) []byte {
	text, err := runtime.ReadFile("runtime/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// include is the folder of the headers beside a module, and operations the kernels of a handle's operations.
const include, operations = "symm_include", "symm_operations.cu"

// cell is a cell of the session, with the checker's result: nil if the cell does not check.
type cell struct {
	*check.Cell
	recorded session.Cell
}

// nodes returns the declarations and statements of a cell.
func (c *cell) nodes() (list []ast.Node) {
	for _, d := range c.Decls {
		list = append(list, d)
	}
	for _, s := range c.Stmts {
		list = append(list, s)
	}
	return list
}

// module is the module under construction.
type module struct {
	names
	sources []*source
	lost    map[types.Object]int // cells, by the objects of Go that were not carried over
	uses    map[string]bool      // modules of the language
	lang    language
	dialect *dialect

	cell *cell // the one at hand
	info *types.Info
	out  []string        // lines of the function run
	deep int             // its indentation
	defs []*ast.FuncType // the functions around the statement at hand
	top  bool            // the statement at hand is the cell's own

	timeouts map[types.Object]bool // variables that are the option Timeout

	comments []comment // of the cell, not yet written
}

// newModule writes the cells of a session.
func newModule(cells []session.Cell, d *dialect, lang func(*module) language) (*module, error) {
	checker, err := check.New(token.NewFileSet(), symbols.Tables(), nil)
	if err != nil {
		return nil, err
	}
	checked, err := recorded.Check(checker, cells)
	if err != nil {
		return nil, err
	}
	m := &module{
		names: names{of: map[types.Object]string{}, taken: map[string]types.Object{}, reserved: d.reserved},
		lost:  map[types.Object]int{}, uses: map[string]bool{}, timeouts: map[types.Object]bool{}, dialect: d,
	}
	m.lang = lang(m)
	for i, c := range checked {
		m.writeCell(&cell{c, cells[i]}, i == len(checked)-1)
	}
	return m, nil
}

// writeCell writes a cell into the function run.
func (m *module) writeCell(c *cell, last bool) {
	m.cell, m.deep = c, 1
	if n := len(m.out); n > 0 && m.out[n-1] != "" {
		m.out = append(m.out, "")
	}
	m.line(m.dialect.comment + " " + recorded.Title(c.recorded) + ".")
	if c.recorded.Folder != "" {
		m.line(m.dialect.comment + " The session changed its folder to " + quote(c.recorded.Folder) + ".")
		return
	}
	if c.recorded.Failed != "" || c.Cell == nil {
		m.comment(c.recorded.Source)
		if c.Cell != nil {
			m.lose(c.Vars, c.Objects)
		}
		return
	}
	m.info = c.Info
	start := len(m.out)
	if c.recorded.Ranks != nil {
		m.lang.only(c.recorded.Ranks)
		m.deep++
	}
	m.comments = commentsOf(c.recorded.Source)
	for _, n := range c.nodes() {
		m.withComments(n, func() {
			m.attempt(n, func() {
				if s, ok := n.(ast.Stmt); ok {
					m.top = true
					m.statement(s)
				} else {
					m.declaration(n.(ast.Decl))
				}
				m.top = false
			})
		})
	}
	m.commentsBefore(len(c.recorded.Source))
	if c.recorded.Ranks != nil {
		m.lang.end(start + 1)
	}
	if !last && m.runs(start) {
		m.line(m.dialect.symm + "meet()" + m.dialect.end)
	}
}

// runs reports whether any line from start on is more than a comment.
func (m *module) runs(start int) bool {
	for _, line := range m.out[start:] {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, m.dialect.comment) {
			return true
		}
	}
	return false
}

// line writes a line.
func (m *module) line(text string) { m.out = append(m.out, strings.Repeat("    ", m.deep)+text) }

// comment writes Go as a comment.
func (m *module) comment(source string) {
	for line := range strings.Lines(strings.Trim(source, "\r\n")) {
		m.line(strings.TrimRight(m.dialect.comment+"     "+strings.TrimRight(line, "\r\n"), " "))
	}
}

// refusal is the panic for code that cannot be carried over.
type refusal struct{ why string }

// refuse gives up the statement at hand.
func (m *module) refuse(why string) { panic(refusal{why}) }

// attempt writes a statement or declaration of a cell, or the reason why it cannot be carried over
// and its Go as a comment.
func (m *module) attempt(n ast.Node, write func()) {
	lines, deep := len(m.out), m.deep
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			m.out, m.deep = m.out[:lines], deep
			m.line(m.dialect.comment + " Not carried over, because " + r.why + ":")
			m.comment(m.goText(n))
			m.loseIn(n)
		default:
			panic(r)
		}
	}()
	write()
}

// words returns the text of an expression of the cell.
func (m *module) words(e ast.Expr) string {
	return m.cell.recorded.Source[m.cell.Offset(e.Pos()):m.cell.Offset(e.End())]
}

// goText returns the text of a statement or declaration of the cell.
func (m *module) goText(n ast.Node) string {
	from, to := m.cell.Offset(n.Pos()), m.cell.Offset(n.End())
	if from < 0 || to < from || to > len(m.cell.recorded.Source) {
		return ""
	}
	from = strings.LastIndexByte(m.cell.recorded.Source[:from], '\n') + 1
	return dedent(m.cell.recorded.Source[from:to])
}

// dedent removes the indentation of the first line from all.
func dedent(text string) string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n"+indent, "\n"), indent)
}

// loseIn notes that the variables that a node defines or sets were not carried over.
func (m *module) loseIn(n ast.Node) {
	lose := func(x ast.Expr) {
		if id, ok := ast.Unparen(x).(*ast.Ident); ok {
			if obj := m.info.ObjectOf(id); obj != nil {
				m.lost[obj] = m.cell.recorded.ID
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if i, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
					x = i.X
				}
				lose(x)
			}
		case *ast.IncDecStmt:
			lose(n.X)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				lose(id)
			}
		case *ast.TypeSpec:
			lose(n.Name)
		case *ast.FuncDecl:
			lose(n.Name)
		}
		return true
	})
}

// lose notes that objects were not carried over.
func (m *module) lose(vars []*types.Var, objects map[string]types.Object) {
	for _, v := range vars {
		m.lost[v] = m.cell.recorded.ID
	}
	for _, obj := range objects {
		m.lost[obj] = m.cell.recorded.ID
	}
}
