package export

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/recorded"
	"github.com/symmrepl/symmrepl/interp/symbols"

	"github.com/symmrepl/symmrepl/session"
)

// program is the program under construction.
type program struct {
	checker *check.Checker
	cells   []*cell
	size    int
	header  string // up to the package clause

	names   map[types.Object]string // names in the program of the session's objects
	taken   map[string]bool         // names that are in use
	meaning map[string]types.Object // current objects of the session's names
	// for each rank: current names in the program of the names that the rank knows
	ranks   []map[string]string
	broken  map[string]int // failed cells, by the variables that they defined
	vars    []variable
	funcs   map[string]*function // by name in the session; methods by type and name
	renamed map[string]string    // session's names of renamed types, by name in the program
	// type names of fields that reflection does not know, by type and name
	fields  map[string]string
	imports map[string]string // package name by path
	written map[string]bool   // paths that the program imports
	shown   string            // the variable that prints values, if there is one
}

// variable is a variable of the program.
type variable struct {
	name string
	typ  types.Type
	cell *cell // the cell that defines it first
}

// function is a function or method with all its definitions.
type function struct {
	name     string // of the function, or of the variable that holds the method
	method   *types.Func
	sig      *types.Signature
	versions []string // names of the definitions, if there are several
	count    int
}

// cell is a cell that is being added to the program.
type cell struct {
	session.Cell
	checked *check.Cell // nil if it does not check
	starts  []string    // statements that precede its own
	fresh   map[*types.Var]bool
}

// Program writes the cells of a session of size ranks as the file of a Go program.
func Program(cells []session.Cell, size int) ([]byte, error) {
	return newProgram(cells, size, fmt.Sprintf(fileHeader, size))
}

// newProgram writes a program with the given header.
func newProgram(cells []session.Cell, size int, header string) ([]byte, error) {
	checker, err := check.New(token.NewFileSet(), symbols.Tables(), nil)
	if err != nil {
		return nil, err
	}
	p := &program{
		checker: checker, size: size, header: header, names: map[types.Object]string{}, taken: map[string]bool{},
		meaning: map[string]types.Object{},
		broken:  map[string]int{}, funcs: map[string]*function{}, renamed: map[string]string{}, fields: map[string]string{},
		imports: map[string]string{}, written: map[string]bool{},
	}
	for range size {
		p.ranks = append(p.ranks, map[string]string{})
	}
	if err := p.check(cells); err != nil {
		return nil, err
	}
	p.reserve()
	for _, c := range p.cells {
		if err := p.define(c); err != nil {
			return nil, err
		}
	}
	text, err := p.write()
	if err != nil {
		return nil, err
	}
	return p.finish(text)
}

// check checks the cells.
func (p *program) check(cells []session.Cell) error {
	checked, err := recorded.Check(p.checker, cells)
	if err != nil {
		return err
	}
	for i, c := range cells {
		c.Name, c.Line = "", 0
		p.cells = append(p.cells, &cell{Cell: c, checked: checked[i], fresh: map[*types.Var]bool{}})
	}
	return nil
}

// define gives the objects of a cell names in the program.
func (p *program) define(c *cell) error {
	if c.checked == nil {
		return nil
	}
	if c.Failed == "" {
		if err := p.checkUses(c); err != nil {
			return err
		}
	}
	objects := slices.SortedFunc(maps.Values(c.checked.Objects), func(a, b types.Object) int { return int(a.Pos() - b.Pos()) })
	for _, obj := range objects {
		old := p.meaning[obj.Name()]
		switch obj := obj.(type) {
		case *types.Func:
			was, again := old.(*types.Func)
			again = again && types.Identical(was.Type(), obj.Type())
			if again && obj.Signature().TypeParams().Len() > 0 {
				return &recorded.Error{Cell: c.ID, Msg: "the generic function " + obj.Name() + " is defined again",
					Hint: "a program cannot replace it in earlier callers; give it another name"}
			}
			if again {
				p.names[obj] = p.names[was]
			} else {
				p.names[obj] = p.newName(obj.Name())
				p.funcs[p.names[obj]] = &function{name: p.names[obj], sig: obj.Signature()}
			}
		default:
			p.names[obj] = p.newName(obj.Name())
			if _, isType := obj.(*types.TypeName); isType {
				p.nameType(obj)
			}
		}
		p.learn(c, obj)
	}
	for _, v := range c.checked.Vars {
		if was, ok := p.meaning[v.Name()].(*types.Var); ok && types.Identical(was.Type(), v.Type()) {
			p.names[v] = p.names[was]
		} else {
			p.names[v] = p.newName(v.Name())
			p.vars = append(p.vars, variable{p.names[v], v.Type(), c})
			c.fresh[v] = true
		}
		delete(p.broken, p.names[v])
		if c.Failed != "" {
			p.broken[p.names[v]] = c.ID
		}
		p.learn(c, v)
	}
	p.countMethods(c)
	return nil
}

// nameType records the facts about a type for the printer.
func (p *program) nameType(obj types.Object) {
	if p.names[obj] != obj.Name() {
		p.renamed[p.names[obj]] = obj.Name()
	}
	s, ok := obj.Type().Underlying().(*types.Struct)
	if !ok {
		return
	}
	for f := range s.Fields() {
		if !types.IsInterface(f.Type()) && !isBasic(f.Type()) && !plain(f.Type()) {
			p.fields[p.names[obj]+"."+f.Name()] = check.TypeName(f.Type())
		}
	}
}

// learn records the new meaning of a name on the ranks of a cell.
func (p *program) learn(c *cell, obj types.Object) {
	p.meaning[obj.Name()] = obj
	for _, r := range p.ranksOf(c) {
		p.ranks[r][obj.Name()] = p.names[obj]
	}
}

// ranksOf returns the ranks of a cell.
func (p *program) ranksOf(c *cell) []int {
	if c.Ranks != nil {
		return c.Ranks
	}
	all := make([]int, p.size)
	for r := range all {
		all[r] = r
	}
	return all
}

// checkUses refuses a cell that uses a name with different meanings on its ranks, or a variable
// that a failed cell defined.
func (p *program) checkUses(c *cell) error {
	for id, obj := range c.checked.Info.Uses {
		if p.names[obj] == "" || p.meaning[id.Name] != obj {
			continue
		}
		if by := p.broken[p.names[obj]]; by != 0 {
			return &recorded.Error{Cell: c.ID, Msg: fmt.Sprintf("it uses %s, which cell %d defined before it failed", id.Name, by),
				Hint: "define it in a cell that does not fail"}
		}
		for _, r := range p.ranksOf(c) {
			if p.ranks[r][id.Name] != p.names[obj] {
				return &recorded.Error{Cell: c.ID, Msg: fmt.Sprintf("it uses %s, which other ranks than rank %d have defined", id.Name, r),
					Hint: "a program has the same variables on all ranks; define it on all"}
			}
		}
	}
	return nil
}

// offset returns the offset of pos in the cell's source, or 0 if it is elsewhere.
func (c *cell) offset(pos token.Pos) int { return max(c.checked.Offset(pos), 0) }
