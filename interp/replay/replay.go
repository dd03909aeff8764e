package replay

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/recorded"
	"github.com/symmrepl/symmrepl/interp/symbols"
	"github.com/symmrepl/symmrepl/session"
)

// Needs are the cells and variables that code needs from its session.
type Needs struct {
	cells   []session.Cell
	changes bool // the code assigns variables that Load does not set
	code    string
	tensor  bool       // the code's last expression is a tensor
	last    int        // offset of that expression in the code
	sent    []variable // that the code can come to, in the order of their definition
}

// Replay returns the cells of the history to run before the code, in order, with their numbers and
// ranks. If stale is true, the code changes variables that Load does not set, so that a replay for
// other code has to begin with an empty session.
func (n *Needs) Replay() (cells []session.Cell, stale bool) { return n.cells, n.changes }

// variable is one of the session.
type variable struct {
	name string
	typ  types.Type
}

// Of returns the needs of code, the statements of a function's body, from the session whose cells
// are history. The error is an *recorded.Error, or the error of a checker.
func Of(history []session.Cell, code string) (*Needs, error) {
	history = slices.DeleteFunc(slices.Clone(history), func(c session.Cell) bool { return c.Ended })
	for _, c := range history {
		if c.Program != nil {
			return nil, &recorded.Error{Cell: c.ID, Msg: "it runs a program, whose files are no cells"}
		}
	}
	checker, err := check.New(token.NewFileSet(), symbols.Tables(), nil)
	if err != nil {
		return nil, err
	}
	checked, err := recorded.Check(checker, history)
	if err != nil {
		return nil, err
	}
	f := &finder{
		history: history, cells: checked, current: checker.Objects(), at: map[string][]int{}, bodies: map[string][]body{},
		session:  map[types.Object]string{},
		assigned: map[string][]int{}, needed: map[int]bool{}, seen: map[string]bool{}, reachable: map[string]bool{},
		writes: map[string]map[string]bool{},
	}
	f.index()
	ran, failed := parse(checker, "func() {"+code+"\n}()")
	if failed != nil {
		return nil, failed
	}
	n := &Needs{code: code}
	n.findResult(checker, code)
	return n, f.find(n, ran)
}

// parse checks a cell that is not defined.
func parse(checker *check.Checker, source string) (*check.Cell, error) {
	syntax, failed := checker.Parse(session.Cell{Source: source})
	if failed != nil {
		return nil, failed
	}
	c, failed := checker.Check(syntax)
	if failed != nil {
		return nil, failed
	}
	return c, nil
}

// findResult finds out whether the code ends with an expression that is a tensor.
func (n *Needs) findResult(checker *check.Checker, code string) {
	items, errs := check.Split(code)
	if len(errs) > 0 || len(items) == 0 {
		return
	}
	last := items[len(items)-1]
	if c, err := parse(checker, code); err == nil && len(c.Values) == 1 && check.IsTensor(c.Values[0]) {
		n.tensor, n.last = true, last.Start
	}
}

// body is the declaration of a function or method in a cell.
type body struct {
	cell int // its place in history
	decl *ast.FuncDecl
}

// finder follows names through the cells of a history. Variables, functions, types, constants and
// methods are known by their names: "n", "step", "Model.Forward". A variable that was defined again
// with the same type is the same variable, and a function that was defined again replaces the one
// before it also for earlier callers.
type finder struct {
	history []session.Cell
	cells   []*check.Cell // nil for those that do not check
	current map[string]types.Object

	session  map[types.Object]string // names of the session's objects
	at       map[string][]int        // places of the cells that declare a name
	bodies   map[string][]body
	assigned map[string][]int           // places of the cells whose statements assign a variable, or call a function that does
	writes   map[string]map[string]bool // variables that a function assigns

	needed    map[int]bool    // places of cells
	seen      map[string]bool // names whose cells are needed
	reachable map[string]bool // names that the code may come to when it runs
}

// index finds the cells that declare and that assign each name.
func (f *finder) index() {
	for i, c := range f.cells {
		if c == nil {
			continue
		}
		declare := func(name string, obj types.Object) {
			f.session[obj] = name
			f.at[name] = append(f.at[name], i)
		}
		for name, obj := range c.Objects {
			declare(name, obj)
		}
		for _, v := range c.Vars {
			declare(v.Name(), v)
		}
		for _, d := range c.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := d.Name.Name
			if base := check.ReceiverName(d); base != nil {
				name = base.Name + "." + name
				if obj := c.Info.Defs[d.Name]; obj != nil {
					declare(name, obj)
				}
				f.at[base.Name] = append(f.at[base.Name], i) // the type has the method from then on
			}
			f.bodies[name] = append(f.bodies[name], body{i, d})
		}
	}
	for i, c := range f.cells {
		if c == nil {
			continue
		}
		for _, s := range c.Stmts {
			for name := range f.assigns(c, s) {
				f.assigned[name] = append(f.assigned[name], i)
			}
		}
	}
}

// names calls do for each name of the session that is used in a node.
func (f *finder) names(c *check.Cell, node ast.Node, do func(name string, obj types.Object)) {
	ast.Inspect(node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := c.Info.Uses[id]; obj != nil {
				if name, ok := f.session[origin(obj)]; ok {
					do(name, obj)
				}
			}
		}
		return true
	})
}

// origin is the generic object of an instance.
func origin(obj types.Object) types.Object {
	switch obj := obj.(type) {
	case *types.Func:
		return obj.Origin()
	case *types.Var:
		return obj.Origin()
	}
	return obj
}

// assigns returns the variables of the session that a node assigns, or an element or field of
// which, itself or in functions of the session that it mentions.
func (f *finder) assigns(c *check.Cell, node ast.Node) map[string]bool {
	found := map[string]bool{}
	target := func(e ast.Expr) {
		if id := root(e); id != nil {
			obj := c.Info.Uses[id]
			if obj == nil {
				obj = c.Info.Defs[id]
			}
			if name, ok := f.session[origin(obj)]; ok {
				found[name] = true
			}
		}
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				target(e)
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					target(e)
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				target(n.X)
			}
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && len(n.Args) > 0 {
				if b, ok := c.Info.Uses[id].(*types.Builtin); ok && slices.Contains([]string{"copy", "delete", "clear"}, b.Name()) {
					target(n.Args[0])
				}
			}
		case *ast.SelectorExpr: // a method of the session with a pointer as its receiver
			if m, ok := c.Info.Uses[n.Sel].(*types.Func); ok && f.session[m.Origin()] != "" &&
				check.IsPointer(m.Signature().Recv().Type()) {
				target(n.X)
			}
		}
		return true
	})
	f.names(c, node, func(name string, _ types.Object) {
		for v := range f.assignedBy(name) {
			found[v] = true
		}
	})
	return found
}

// assignedBy returns the variables that a function assigns.
func (f *finder) assignedBy(name string) map[string]bool {
	if known, ok := f.writes[name]; ok {
		return known
	}
	all := map[string]bool{}
	f.writes[name] = all // of a function that calls itself: the variables that are found so far
	for _, b := range f.bodies[name] {
		for v := range f.assigns(f.cells[b.cell], b.decl) {
			all[v] = true
		}
	}
	return all
}

// root returns the variable that holds the object of an expression: x of x.f[2].
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// find finds the needs of the code, which was checked as ran.
func (f *finder) find(n *Needs, ran *check.Cell) error {
	if err := refuseUnsteady(ran, ran.Body, 0); err != nil {
		return err
	}
	f.names(ran, ran.Body, f.reach)
	for name := range f.reachable {
		switch obj := f.current[name].(type) {
		case *types.Var:
			n.sent = append(n.sent, variable{name, obj.Type()})
		case nil:
			if len(f.bodies[name]) == 0 {
				return &recorded.Error{Msg: fmt.Sprintf("the code uses %s, which the session has no more under this name", name),
					Hint: "give its replacement another name"}
			}
		}
	}
	slices.SortFunc(n.sent, func(a, b variable) int { return int(f.current[a.name].Pos() - f.current[b.name].Pos()) })
	for _, v := range n.sent {
		if err := sendable(v); err != nil {
			return err
		}
		if isFunc(v.typ) && !f.open(v.name) {
			return &recorded.Error{Msg: "the variable " + v.name + " cannot be sent: the variables that its function has captured are not known",
				Hint: "declare the function itself, by func " + v.name}
		}
	}
	for name := range f.assigns(ran, ran.Body) {
		if v, ok := f.current[name].(*types.Var); ok && !isPlain(v.Type()) {
			n.changes = true
		}
	}
	for i, c := range f.history {
		if c.Folder != "" {
			n.cells = append(n.cells, c)
		}
		if !f.needed[i] {
			continue
		}
		if c.Failed != "" {
			return &recorded.Error{Cell: c.ID, Msg: "it declares or sets variables of the code, and it failed: " + c.Failed,
				Hint: "run it again without the failure"}
		}
		if err := refuseUnsteady(f.cells[i], f.cells[i].Body, c.ID); err != nil {
			return err
		}
		for _, d := range f.cells[i].Decls {
			if err := refuseUnsteady(f.cells[i], d, c.ID); err != nil {
				return err
			}
		}
		if c.Source != "" {
			n.cells = append(n.cells, c)
		}
	}
	return nil
}

// reach notes that the code may come to a name when it runs: it calls the function, or sees the
// value of the variable, which the name's cells make.
func (f *finder) reach(name string, obj types.Object) {
	f.need(name)
	if f.reachable[name] {
		return
	}
	f.reachable[name] = true
	for _, b := range f.bodies[name] {
		f.names(f.cells[b.cell], b.decl, f.reach)
	}
	if _, ok := obj.(*types.Var); !ok {
		return
	}
	for _, i := range slices.Concat(f.at[name], f.assigned[name]) {
		c := f.cells[i]
		f.names(c, c.Body, func(name string, other types.Object) {
			// the variables that a closure or a handle may use, or the handle by which a tensor has
			// memory of another rank
			if reaches(obj.Type()) || isHandle(other.Type()) {
				f.reach(name, other)
			}
		})
	}
}

// need notes that the cells are needed that declare or assign a name, and those that these need.
func (f *finder) need(name string) {
	if f.seen[name] {
		return
	}
	f.seen[name] = true
	for _, i := range slices.Concat(f.at[name], f.assigned[name]) {
		if f.needed[i] {
			continue
		}
		f.needed[i] = true
		c := f.cells[i]
		again := func(name string, _ types.Object) { f.need(name) }
		f.names(c, c.Body, again)
		for _, d := range c.Decls {
			f.names(c, d, again)
		}
	}
}

// open reports whether all functions that a variable is given are known, and use no variables but
// their own and the session's: each is the text of a function, or the name of one.
func (f *finder) open(name string) bool {
	for _, i := range slices.Concat(f.at[name], f.assigned[name]) {
		c := f.cells[i]
		given, known := 0, 0
		ast.Inspect(c.Body, func(n ast.Node) bool {
			var to, from []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				to, from = n.Lhs, n.Rhs
			case *ast.ValueSpec:
				from = n.Values
				for _, id := range n.Names {
					to = append(to, id)
				}
			}
			for j, e := range to {
				id, ok := e.(*ast.Ident)
				if !ok || f.session[c.Info.ObjectOf(id)] != name {
					continue
				}
				given++
				if len(from) == len(to) && f.stands(c, from[j]) {
					known++
				}
			}
			return true
		})
		if given == 0 || given != known {
			return false
		}
	}
	return true
}

// stands reports whether a function that an expression gives uses no variables of functions around it.
func (f *finder) stands(c *check.Cell, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, isFunc := c.Info.Uses[e].(*types.Func)
		return isFunc
	case *ast.SelectorExpr: // of a package
		fn, isFunc := c.Info.Uses[e.Sel].(*types.Func)
		return isFunc && fn.Signature().Recv() == nil
	case *ast.FuncLit:
		stands := true
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if v, ok := c.Info.Uses[id].(*types.Var); ok && !v.IsField() && f.session[v.Origin()] == "" && v.Parent() != nil &&
				v.Parent() != v.Pkg().Scope() && (v.Pos() < e.Pos() || v.Pos() > e.End()) {
				stands = false
			}
			return true
		})
		return stands
	}
	return false
}
