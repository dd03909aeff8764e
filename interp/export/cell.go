package export

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
)

// parts are the parts of the program made from a cell.
type parts struct {
	decls []string
	body  string // body of its function; "" if it needs none
}

// cell rewrites a cell.
func (p *program) cell(c *cell) parts {
	var out parts
	if c.checked == nil {
		return parts{}
	}
	if c.Folder != "" && c.Failed == "" {
		c.starts = append(c.starts, fmt.Sprintf("if err := %s.Chdir(%q); err != nil {\n\tpanic(err)\n}", p.pkg("os"), c.Folder))
	}
	var e edits
	p.rename(c, &e)
	decls, between := blocks(c.Source, c.checked.Outside())
	for _, d := range c.checked.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			p.function(c, f, &e)
		}
	}
	for _, place := range decls {
		text := strings.TrimRight(strings.TrimSpace(e.apply(c.Source, place[0], place[1])), "; \t")
		if text != "" && !isImport(c, place) {
			out.decls = append(out.decls, text)
		}
	}
	for _, s := range c.checked.Stmts {
		p.defineStmt(c, s, &e)
	}
	for _, d := range c.checked.VarDecls() {
		if d.Lparen < 0 {
			e.replace(d.Start, d.Start+len("var"), "")
			continue
		}
		e.replace(d.Start, d.Lparen+1, "")
		e.replace(d.Rparen, d.Rparen+1, "")
	}
	p.showValue(c, &e)
	var body strings.Builder
	begun := p.begin(c, e, &body)
	for _, place := range between {
		if place[1] > begun {
			body.WriteString(e.apply(c.Source, max(place[0], begun), place[1]))
		}
	}
	text := strings.Trim(body.String(), "\r\n")
	if c.Failed != "" {
		text = ""
	}
	if len(c.starts) > 0 || strings.TrimSpace(text) != "" && len(c.checked.Stmts) > 0 {
		out.body = strings.TrimSpace(strings.Join(append(c.starts, text), "\n"))
	} else if strings.TrimSpace(text) != "" { // only comments
		out.decls = append(out.decls, strings.TrimSpace(text))
	}
	return out
}

// begin writes the beginning of a cell, which is executed like the beginning of a package:
// variables in the order of their dependencies, then init functions. It returns the offset in the
// source where the rest begins, 0 if the beginning needs no change.
func (p *program) begin(c *cell, e edits, body *strings.Builder) int {
	begun, last, moved, n := 0, -1, false, 0
	for _, s := range c.checked.Stmts {
		at := c.offset(s.Pos())
		d, isDecl := s.(*ast.DeclStmt)
		if isDecl && d.Decl.(*ast.GenDecl).Tok == token.VAR {
			moved = moved || at < last
			last = at
		} else if outside(c, at) {
			moved = true
		} else {
			break
		}
		n++
		for _, v := range c.checked.VarDecls() {
			if v.Start <= at && at < v.End {
				begun = max(begun, v.End)
			}
		}
	}
	if !moved {
		return 0
	}
	for _, s := range c.checked.Stmts[:n] {
		start, end := c.offset(s.Pos()), c.offset(s.End())
		call, isInit := s.(*ast.ExprStmt)
		if !isInit {
			body.WriteString(e.apply(c.Source, start, end) + "\n")
			continue
		}
		f := call.X.(*ast.CallExpr).Fun.(*ast.FuncLit)
		body.WriteString("func" + e.apply(c.Source, c.offset(f.Type.Params.Pos()), c.offset(f.End())) + "()\n")
	}
	return begun
}

// outside reports whether an offset in the source is not in a statement.
func outside(c *cell, at int) bool {
	for _, place := range c.checked.Outside() {
		if place[0] <= at && at < place[1] {
			return true
		}
	}
	return false
}

// isImport reports whether a range outside of statements contains an import.
func isImport(c *cell, place [2]int) bool {
	for _, d := range c.checked.Decls {
		if at := c.offset(d.Pos()); at >= place[0] && at < place[1] {
			return false
		}
	}
	return true
}

// rename replaces every name in a cell by its name in the program.
func (p *program) rename(c *cell, e *edits) {
	done := map[int]bool{}
	selected := c.selected()
	for _, uses := range []map[*ast.Ident]types.Object{c.checked.Info.Uses, c.checked.Info.Defs} {
		for id, obj := range uses {
			if obj == nil || !id.Pos().IsValid() {
				continue
			}
			at := c.offset(id.Pos())
			if done[at] || at < 0 || !strings.HasPrefix(c.Source[at:], id.Name) {
				continue
			}
			name := p.nameOf(id, obj)
			// from a dot import
			if pkg := obj.Pkg(); pkg != nil && pkg != p.checker.Package() && obj.Parent() == pkg.Scope() && !selected[at] {
				name = p.pkg(pkg.Path()) + "." + name
			}
			if name != id.Name {
				done[at] = true
				e.replace(at, at+len(id.Name), name)
			}
		}
	}
}

// selected returns the offsets of names after a dot.
func (c *cell) selected() map[int]bool {
	found := map[int]bool{}
	visit := func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found[c.offset(s.Sel.Pos())] = true
		}
		return true
	}
	for _, d := range c.checked.Decls {
		ast.Inspect(d, visit)
	}
	for _, s := range c.checked.Stmts {
		ast.Inspect(s, visit)
	}
	for _, x := range c.checked.List {
		ast.Inspect(x, visit)
	}
	return found
}

// function renames a declaration of a function that is defined several times. The cell assigns the
// function to the variable through which it is called.
func (p *program) function(c *cell, f *ast.FuncDecl, e *edits) {
	g := p.functionOf(c, f)
	if g == nil || g.count < 2 {
		return
	}
	version := g.versions[0]
	g.versions = g.versions[1:]
	c.starts = append(c.starts, g.name+" = "+version)
	name, end := c.offset(f.Name.Pos()), c.offset(f.Name.End())
	if f.Recv == nil {
		*e = deleteFunc(*e, name)
		e.replace(name, end, version)
		return
	}
	// The receiver becomes the first parameter.
	open, params := c.offset(f.Recv.Opening), c.offset(f.Type.Params.Opening)
	receiver := strings.TrimSpace(e.apply(c.Source, open+1, c.offset(f.Recv.Closing)))
	if len(f.Recv.List[0].Names) == 0 {
		receiver = "_ " + receiver
	}
	if len(f.Type.Params.List) > 0 {
		receiver += ", "
	}
	for _, param := range f.Type.Params.List {
		if len(param.Names) == 0 {
			at := c.offset(param.Type.Pos())
			e.replace(at, at, "_ ")
		}
	}
	kept := (*e)[:0]
	for _, x := range *e {
		if x.start < open || x.start > params {
			kept = append(kept, x)
		}
	}
	*e = kept
	e.replace(open, params+1, version+"("+receiver)
}

// deleteFunc drops the edit at a place.
func deleteFunc(e edits, start int) edits {
	kept := e[:0]
	for _, x := range e {
		if x.start != start {
			kept = append(kept, x)
		}
	}
	return kept
}

// defineStmt turns a statement's definitions into assignments.
func (p *program) defineStmt(c *cell, s ast.Stmt, e *edits) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		p.defineStmt(c, s.Stmt, e)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			at := c.offset(s.TokPos)
			e.replace(at, at+2, "=")
		}
	case *ast.DeclStmt:
		d := s.Decl.(*ast.GenDecl)
		if d.Tok != token.VAR {
			return
		}
		for _, spec := range d.Specs {
			p.defineSpec(c, spec.(*ast.ValueSpec), e)
		}
	}
}

func (p *program) defineSpec(c *cell, spec *ast.ValueSpec, e *edits) {
	start, end := c.offset(spec.Pos()), c.offset(spec.End())
	blank := true
	var zeroed []string
	for _, id := range spec.Names {
		v, _ := c.checked.Info.Defs[id].(*types.Var)
		blank = blank && id.Name == "_"
		if v != nil && id.Name != "_" && !c.fresh[v] {
			zeroed = append(zeroed, p.names[v]+" = *new("+p.typeText(v.Type())+")")
		}
	}
	switch {
	case len(spec.Values) == 0: // its variables are zero already, unless they existed before
		kept := (*e)[:0]
		for _, x := range *e {
			if x.start < start || x.end > end {
				kept = append(kept, x)
			}
		}
		*e = kept
		e.replace(start, end, strings.Join(zeroed, "; "))
	case spec.Type == nil:
	case blank:
		e.replace(start, start, "var ")
	default:
		from, to := c.offset(spec.Names[len(spec.Names)-1].End()), c.offset(spec.Values[0].Pos())
		kept := (*e)[:0]
		for _, x := range *e {
			if x.start < from || x.end > to {
				kept = append(kept, x)
			}
		}
		*e = kept
		e.replace(from, to, " = ")
	}
}

// showValue prints the value of the last expression.
func (p *program) showValue(c *cell, e *edits) {
	if c.Failed != "" {
		return
	}
	if c.checked.Quiet {
		p.dropValue(c, e)
		return
	}
	for i, x := range c.checked.List {
		before, after := p.wrap(c.checked.Values[i])
		if i == 0 {
			before = p.printer() + ".Print(" + before
		}
		if i == len(c.checked.List)-1 {
			after += ")"
		}
		e.replace(c.offset(x.Pos()), c.offset(x.Pos()), before)
		e.replace(c.offset(x.End()), c.offset(x.End()), after)
	}
	if c.checked.Value == nil {
		return
	}
	start, end := c.offset(c.checked.Value.Pos()), c.offset(c.checked.Value.End())
	print := p.printer() + ".Print("
	special := false
	var wrapped []string
	var temps []string
	for _, t := range c.checked.Values {
		before, after := p.wrap(t)
		special = special || before != ""
		temp := ""
		if len(c.checked.Values) > 1 {
			temp = p.fresh("value")
		}
		temps = append(temps, temp)
		wrapped = append(wrapped, before+temp+after)
	}
	switch {
	case len(c.checked.Values) == 1:
		before, after := p.wrap(c.checked.Values[0])
		e.replace(start, start, print+before)
		e.replace(end, end, after+")")
	case !special:
		e.replace(start, start, print)
		e.replace(end, end, ")")
	default:
		e.replace(start, start, strings.Join(temps, ", ")+" := ")
		e.replace(end, end, "\n"+print+strings.Join(wrapped, ", ")+")")
	}
}

// dropValue turns the last expression of a cell that shows no value into a statement.
func (p *program) dropValue(c *cell, e *edits) {
	values := c.checked.List
	if c.checked.Value != nil {
		values = []ast.Expr{c.checked.Value}
	}
	if values == nil {
		return
	}
	start, end := c.offset(values[0].Pos()), c.offset(values[0].End())
	e.replace(start, start, strings.Repeat("_, ", len(c.checked.Values)-1)+"_ = ")
	if c.checked.Info.Types[values[0]].IsNil() {
		e.replace(start, start, "any(")
		e.replace(end, end, ")")
	}
}

// printer returns the operand for printing values: the package, or a variable that knows the
// session's names of renamed types.
func (p *program) printer() string {
	if len(p.renamed)+len(p.fields) == 0 {
		return p.pkg(showPath)
	}
	if p.shown == "" {
		p.shown = p.unused("shown")
	}
	return p.shown
}

// wrap returns text around a value that gives the printer type information that reflection lacks.
func (p *program) wrap(t types.Type) (before, after string) {
	if types.IsInterface(t) {
		for _, name := range []string{"Error", "String"} {
			if obj, _, _ := types.LookupFieldOrMethod(t, false, p.checker.Package(), name); obj != nil {
				return "", ""
			}
		}
		return p.pkg(showPath) + ".Held(", ")"
	}
	if isBasic(t) || plain(t) {
		return "", ""
	}
	return p.pkg(showPath) + ".Typed(" + quoted(check.TypeName(t)) + ", ", ")"
}
