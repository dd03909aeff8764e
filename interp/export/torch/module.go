package torch

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/export"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
)

// runtime is the module that every exported one imports.
//
//go:embed symm_torch.py
var runtime string

// Runtime is the file of the module that every exported one imports, and Include the folder of its headers.
const (
	Runtime = "symm_torch.py"
	Include = "symm_include"
)

// cell is a cell of the session and what the checker makes of it: nil if it does not check.
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

// module is the Python module under construction.
type module struct {
	names
	sources []*source
	lost    map[types.Object]int // cells, by the objects of Go that were not carried over
	uses    map[string]bool      // Python's modules

	cell *cell // the one at hand
	info *types.Info
	out  []string        // lines of the function run
	deep int             // its indentation
	defs []*ast.FuncType // the functions around the statement at hand
	top  bool            // the statement at hand is the cell's own

	// Variables that are known not to be negative, those that are the number of ranks, and those that are the option Timeout.
	naturals, positives, timeouts map[types.Object]bool

	comments []comment // of the cell, not yet written
}

// Module writes the cells of a session of size ranks as the Python module of a file and what it needs beside it: the files by their
// paths in the folder of the module.
func Module(file string, cells []session.Cell, size int) (map[string][]byte, error) {
	checker, err := check.New(token.NewFileSet(), symbols.Tables(), nil)
	if err != nil {
		return nil, err
	}
	checked, err := export.Check(checker, cells)
	if err != nil {
		return nil, err
	}
	m := &module{
		names: names{of: map[types.Object]string{}, taken: map[string]types.Object{}},
		lost:  map[types.Object]int{}, uses: map[string]bool{}, naturals: map[types.Object]bool{}, positives: map[types.Object]bool{}, timeouts: map[types.Object]bool{},
	}
	for i, c := range checked {
		m.writeCell(&cell{c, cells[i]}, i == len(checked)-1)
	}
	var texts []string
	for _, s := range m.sources {
		texts = append(texts, s.text)
	}
	headers, missing := Headers(texts...)
	files := map[string][]byte{path.Base(file): []byte(m.text(path.Base(file), size, missing)), Runtime: []byte(runtime)}
	for name, text := range headers {
		files[path.Join(Include, name)] = []byte(text)
	}
	return files, nil
}

const header = `"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node %[2]d %[1]s           runs the cells, one process for each rank
    torchrun --nproc-per-node %[2]d %[1]s --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from %[3]s import ..." after symm_torch.start().
"""

`

// text returns the text of the module.
func (m *module) text(file string, size int, missing []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, header, file, size, strings.TrimSuffix(file, ".py"))
	for _, name := range []string{"math", "time"} {
		if m.uses[name] {
			b.WriteString("import " + name + "\n")
		}
	}
	if m.uses["math"] || m.uses["time"] {
		b.WriteString("\n")
	}
	if m.uses["torch"] {
		b.WriteString("import torch\n\n")
	}
	b.WriteString("import symm_torch as symm\n")
	for _, name := range missing {
		fmt.Fprintf(&b, "\n# A kernel includes %s, which is a file of yours: put it into %s.\n", name, Include)
	}
	explained := ""
	for _, s := range m.sources {
		b.WriteString("\n" + s.python(explained))
		if s.nccl != "" && explained == "" {
			explained = s.name
		}
	}
	b.WriteString("\n\ndef run():\n")
	if len(m.out) == 0 {
		m.out = []string{"    pass"}
	}
	b.WriteString(strings.Join(m.out, "\n") + "\n\n\nif __name__ == \"__main__\":\n    symm.main(run)\n")
	return b.String()
}

// python returns the source in Python. explained is the source that says what a kernel of nccl_device.h needs, or "".
func (s *source) python(explained string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Cell %d.\n", s.cell)
	if s.nccl != "" {
		if explained == "" {
			fmt.Fprintf(&b, ncclHelp, s.nccl)
		} else {
			fmt.Fprintf(&b, "# %s is a kernel of nccl_device.h, too: see %s.\n", s.nccl, explained)
		}
		fmt.Fprintf(&b, "%s = %s\n", s.name, block(s.text))
		return b.String()
	}
	fmt.Fprintf(&b, "%s = symm.Source(\n    %s,\n    \"cell%d.cu\",\n)\n", s.name, block(s.text), s.cell)
	for _, k := range s.kernels {
		fmt.Fprintf(&b, "%s = %s.kernel(%s", k.python, s.name, quote(k.name))
		for _, p := range k.params {
			b.WriteString(", " + quote(p))
		}
		b.WriteString(")\n")
	}
	return b.String()
}

// block returns a text of several lines as a Python literal, raw if it can be.
func block(text string) string {
	switch {
	case strings.Contains(text, `"""`), strings.HasSuffix(text, `"`), strings.HasSuffix(text, `\`):
		return quote(text)
	}
	return `r"""` + text + `"""`
}

// writeCell writes a cell into the function run.
func (m *module) writeCell(c *cell, last bool) {
	m.cell, m.deep = c, 1
	if len(m.out) > 0 {
		m.out = append(m.out, "")
	}
	m.line("# " + export.Title(c.recorded) + ".")
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
		m.line("if symm.rank() in [" + strings.ReplaceAll(fmt.Sprint(c.recorded.Ranks)[1:], " ", ", ") + ":")
		m.deep++
	}
	m.comments = commentsOf(c.recorded.Source)
	for _, n := range c.nodes() {
		m.withComments(n, func() {
			m.attempt(n, func() {
				if s, ok := n.(ast.Stmt); ok {
					m.topStatement(s)
				} else {
					m.declaration(n.(ast.Decl))
				}
			})
		})
	}
	m.commentsBefore(len(c.recorded.Source))
	m.pass(start + m.deep - 1)
	m.deep = 1
	if !last && m.runs(start) {
		m.line("symm.meet()")
	}
}

// runs reports whether any line from start on is more than a comment.
func (m *module) runs(start int) bool {
	for _, line := range m.out[start:] {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

// pass makes a block of Python of the lines from start on, if they are comments only.
func (m *module) pass(start int) {
	if m.deep > 1 && !m.runs(start) {
		m.line("pass")
	}
}

// line writes a line.
func (m *module) line(text string) { m.out = append(m.out, strings.Repeat("    ", m.deep)+text) }

// comment writes Go as a comment.
func (m *module) comment(source string) {
	for line := range strings.Lines(strings.Trim(source, "\r\n")) {
		m.line(strings.TrimRight("#     "+strings.TrimRight(line, "\r\n"), " "))
	}
}

// refusal is the panic of what cannot be carried over.
type refusal struct{ why string }

// refuse gives up the statement at hand.
func (m *module) refuse(_ ast.Node, why string) { panic(refusal{why}) }

// attempt writes a statement or declaration of a cell, or the reason why it cannot be carried over and its Go as a comment.
func (m *module) attempt(n ast.Node, write func()) {
	lines, deep := len(m.out), m.deep
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			m.out, m.deep = m.out[:lines], deep
			m.line("# Not carried over, because " + r.why + ":")
			m.comment(m.goText(n))
			m.loseIn(n)
		default:
			panic(r)
		}
	}()
	write()
}

// goText returns the text of a node of the cell.
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

// loseIn notes that what a node defines or sets was not carried over.
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
