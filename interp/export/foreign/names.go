package foreign

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// pythonReserved and cppReserved are the names that a module needs in their own meaning.
var pythonReserved, cppReserved = strings.Fields(`
	False None True and as assert async await break class continue def del elif else except finally for from global if import in is
	lambda nonlocal not or pass raise return try while with yield
	abs all any bool bytes dict enumerate float int len list map max min print range reversed set sorted str sum tuple type zip open round
	RuntimeError math time torch symm run`), strings.Fields(`
	alignas alignof and asm auto bool break case catch char class const constexpr continue default delete do double else enum explicit export extern
	false float for friend goto if inline int long mutable namespace new not operator or private protected public register return short signed sizeof
	static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while xor
	symm std main cells argc argv abs exit printf puts read write close send index time signal stdin stdout stderr rand y0 y1 yn j0 j1 jn gamma link`)

// names gives the objects of a session names in Python.
type names struct {
	of    map[types.Object]string
	taken map[string]types.Object // by name, in the module and in its function that holds the cells

	reserved []string
}

// legal returns a name that the language has no other meaning for.
func (n *names) legal(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 {
			return r
		}
		return '_'
	}, name)
	if slices.Contains(n.reserved, name) {
		return name + "_"
	}
	return name
}

// fresh returns an unused name, and gives it to obj.
func (n *names) fresh(name string, obj types.Object) string {
	name = n.legal(name)
	unused := name
	for i := 2; ; i++ {
		if _, is := n.taken[unused]; !is {
			break
		}
		unused = fmt.Sprint(name, i)
	}
	n.taken[unused] = obj
	return unused
}

// define names a variable that a statement defines. A variable of the session that is defined again
// with the same type keeps its name, as in the session; a variable of an inner scope gets a name
// that no variable visible there has.
func (n *names) define(v *types.Var, outer bool) string {
	name := n.legal(v.Name())
	was, is := n.taken[name]
	switch old, isVar := was.(*types.Var); {
	case !is, isVar && outer && types.Identical(old.Type(), v.Type()):
		n.taken[name] = v
	case isVar && !outer && old.Parent() != nil && v.Parent() != nil && !encloses(old.Parent(), v.Parent()):
		n.taken[name] = v // a variable of a block that has ended
	default:
		name = n.fresh(v.Name(), v)
	}
	n.of[v] = name
	return name
}

// encloses reports whether inner is outer or a scope in it.
func encloses(outer, inner *types.Scope) bool {
	for ; inner != nil; inner = inner.Parent() {
		if inner == outer {
			return true
		}
	}
	return false
}
