package interp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// model is a programmer's model of a session in which definitions replace each other.
type model struct {
	*rand.Rand
	names   map[string]*binding
	structs map[string]*structType // the current definition of a type's name
	history []string               // the cells so far
}

// binding is the meaning of a name. Functions and closures refer to the bindings at the time of
// their definition.
type binding struct {
	kind   string // variable, constant, function, closure, value, import
	typ    string
	n      int         // makes the value; of a function, what it adds
	uses   *binding    // the function that a function calls, or the variable that it or a closure reads
	struc  *structType // of a value
	method string      // of an import: what it has
}

// structType is one version of a type; a method belongs to it and not to its name.
type structType struct{ field, factor int }

var (
	modelNames  = []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	modelTypes  = []string{"int", "string", "[]int", "map[string]int", "any", "*int"}
	modelStruct = []string{"S", "T"}
)

// literalOf returns a value of a type and the text that the session shows for it.
func literalOf(typ string, n int) (source, shown string) {
	switch typ {
	case "string":
		return fmt.Sprintf("%q", fmt.Sprint("s", n)), fmt.Sprintf("%q", fmt.Sprint("s", n))
	case "[]int":
		s := fmt.Sprintf("[]int{%d, %d}", n, n+1)
		return s, s
	case "map[string]int":
		s := fmt.Sprintf("map[string]int{\"k\": %d}", n)
		return s, s
	case "any":
		return fmt.Sprintf("any(%d)", n), fmt.Sprint(n)
	case "*int":
		return fmt.Sprintf("func() *int { v := %d; return &v }()", n), fmt.Sprintf("(*int)(&%d)", n)
	}
	return fmt.Sprint(n), fmt.Sprint(n)
}

// bind binds a name to b. If the name has a binding of the same kind and type, that binding changes
// in place, so that its users see the change.
func (m *model) bind(name string, b binding) {
	old := m.names[name]
	if old != nil && old.kind == b.kind && old.typ == b.typ && (b.kind == "variable" || b.kind == "function" || b.kind == "value" && old.struc == b.struc) {
		*old = b
		return
	}
	m.names[name] = &b
}

// find returns a name of one of the kinds, or "" if there is none.
func (m *model) find(typ string, kinds ...string) string {
	for _, i := range m.Perm(len(modelNames)) {
		b := m.names[modelNames[i]]
		if b != nil && slices.Contains(kinds, b.kind) && (typ == "" || b.typ == typ) {
			return modelNames[i]
		}
	}
	return ""
}

// reaches reports whether calling b leads to a call of to.
func (b *binding) reaches(to *binding) bool {
	return b != nil && (b == to || b.uses.reaches(to))
}

// result returns the result of a function for n.
func (b *binding) result(n int) int {
	switch {
	case b.uses == nil:
		return n + b.n
	case b.uses.kind == "function":
		return b.uses.result(n) + b.n
	}
	return n + b.uses.n + b.n
}

// expression returns a use of a name and what the session shows for it.
func (m *model) expression(name string) (source, shown string) {
	b := m.names[name]
	switch b.kind {
	case "function":
		if b.typ == "int" {
			return name + "(100)", fmt.Sprint(b.result(100))
		}
		return name + "(\"x\")", fmt.Sprintf("%q", fmt.Sprint("x", b.n))
	case "closure":
		_, shown = literalOf(b.typ, b.uses.n)
		return name + "()", shown
	case "value":
		return fmt.Sprintf("fmt.Sprint(%s.Get(), %s)", name, name), fmt.Sprintf("\"%d {%d}\"", b.n*b.struc.factor, b.n)
	case "import":
		if b.method == "Itoa" {
			return name + ".Itoa(7)", `"7"`
		}
		return name + ".ToUpper(\"q\")", `"Q"`
	}
	_, shown = literalOf(b.typ, b.n)
	return name, shown
}

// step returns a random cell that defines something again, and updates the model.
func (m *model) step() string {
	name := modelNames[m.IntN(len(modelNames))]
	n := m.IntN(1000)
	switch m.IntN(12) {
	case 0, 1:
		typ := modelTypes[m.IntN(len(modelTypes))]
		source, _ := literalOf(typ, n)
		m.bind(name, binding{kind: "variable", typ: typ, n: n})
		return fmt.Sprintf("%s := %s", name, source)
	case 2: // an assignment
		if v := m.find("", "variable"); v != "" {
			b := m.names[v]
			b.n = n
			source, _ := literalOf(b.typ, n)
			return fmt.Sprintf("%s = %s", v, source)
		}
	case 3:
		m.bind(name, binding{kind: "constant", typ: "int", n: n})
		return fmt.Sprintf("const %s = %d", name, n)
	case 4: // a function on its own
		if m.IntN(3) == 0 {
			m.bind(name, binding{kind: "function", typ: "string", n: n})
			return fmt.Sprintf("func %s(p string) string { return p + fmt.Sprint(%d) }", name, n)
		}
		m.bind(name, binding{kind: "function", typ: "int", n: n})
		return fmt.Sprintf("func %s(p int) int { return p + %d }", name, n)
	case 5: // one that calls another
		other := m.find("int", "function")
		if other != "" && other != name && !m.names[other].reaches(m.names[name]) {
			m.bind(name, binding{kind: "function", typ: "int", n: n, uses: m.names[other]})
			return fmt.Sprintf("func %s(p int) int { return %s(p) + %d }", name, other, n)
		}
	case 6: // one that reads a variable, or a constant, which is folded
		other := m.find("int", "variable", "constant")
		if other == "" || other == name {
			break
		}
		b := binding{kind: "function", typ: "int", n: n, uses: m.names[other]}
		if b.uses.kind == "constant" {
			b.n, b.uses = n+b.uses.n, nil
		}
		m.bind(name, b)
		return fmt.Sprintf("func %s(p int) int { return p + %s + %d }", name, other, n)
	case 7: // a closure
		if v := m.find("", "variable"); v != "" && v != name {
			m.bind(name, binding{kind: "closure", typ: m.names[v].typ, uses: m.names[v]})
			return fmt.Sprintf("%s := func() %s { return %s }", name, m.names[v].typ, v)
		}
	case 8: // a type with a method
		s := modelStruct[m.IntN(len(modelStruct))]
		t := &structType{field: n, factor: 1 + m.IntN(9)}
		m.structs[s] = t
		return fmt.Sprintf("type %s struct{ F%d int }\nfunc (r %s) Get() int { return r.F%d * %d }", s, n, s, n, t.factor)
	case 9: // its method again
		s := modelStruct[m.IntN(len(modelStruct))]
		if t := m.structs[s]; t != nil {
			t.factor = 1 + m.IntN(9)
			return fmt.Sprintf("func (other %s) Get() int { return %d * other.F%d }", s, t.factor, t.field)
		}
	case 10: // a value of it
		s := modelStruct[m.IntN(len(modelStruct))]
		if t := m.structs[s]; t != nil {
			m.bind(name, binding{kind: "value", struc: t, n: n})
			return fmt.Sprintf("%s := %s{%d}", name, s, n)
		}
	case 11:
		b := binding{kind: "import", method: "Itoa"}
		path := "strconv"
		if m.IntN(2) == 0 {
			b.method, path = "ToUpper", "strings"
		}
		m.bind(name, b)
		return fmt.Sprintf("import %s %q", name, path)
	}
	return m.step()
}

// FuzzRedefinitions checks that a session in which definitions of all kinds replace each other has
// the values that a model predicts.
func FuzzRedefinitions(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { randomSession(t, seed, 200) })
}

func randomSession(t *testing.T, seed uint64, steps int) {
	in := open(t, Options{})
	m := &model{Rand: rand.New(rand.NewPCG(seed, 0)), names: map[string]*binding{}, structs: map[string]*structType{}}
	for range steps {
		m.history = append(m.history, m.step())
		if e := evaluate(in, session.Cell{ID: len(m.history), Source: m.history[len(m.history)-1]}).Err; e != nil {
			m.fail(t, seed, e.Error())
			return
		}
		for _, name := range modelNames {
			if m.names[name] == nil || m.IntN(3) > 0 {
				continue
			}
			source, want := m.expression(name)
			r := evaluate(in, session.Cell{ID: len(m.history), Source: source})
			if r.Err != nil || r.Value != want {
				m.history = append(m.history, source)
				m.fail(t, seed, fmt.Sprintf("got %s, %v; want %s", r.Value, r.Err, want))
				return
			}
		}
	}
}

func (m *model) fail(t *testing.T, seed uint64, text string) {
	t.Errorf("seed %d, after %d cells: %s", seed, len(m.history), text)
	for i, cell := range m.history {
		t.Logf("%d: %s", i+1, cell)
	}
}
