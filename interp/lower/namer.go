package lower

import (
	"go/ast"
	"go/types"
)

// namer knows the names in yaegi of the objects of the session and of the cell, and of instances,
// which it names on first use. Types with different names are different types.
type namer struct {
	facts
	program *Program
	names   map[types.Object]string // names in yaegi of this cell's objects
	// names of functions that are defined again, in their declaration; uses have the name of the
	// first declaration
	declared map[types.Object]string
	renamed  map[types.Object]string // local variables that have another name in yaegi
	hoisted  map[types.Object]bool   // variables of the cell's top level
	places   map[*types.Var]*Storage // the storage of those variables
	// type parameters of instances, which stand for the type arguments
	params    map[types.Object]bool
	recursion map[*types.Named]bool        // whether a type is recursive
	instances map[types.Object][]*instance // instances that this cell is the first to use
	pending   []*instance                  // those of them that are not lowered yet
}

// name returns the identifier in yaegi of an object of the session or of this cell. Local objects
// keep their names.
func (l *namer) name(obj types.Object) string {
	if n, ok := l.names[obj]; ok {
		return n
	}
	if n, ok := l.renamed[obj]; ok {
		return n
	}
	if n, ok := l.program.names[obj]; ok {
		return n
	}
	return obj.Name()
}

// storage returns the storage of a variable of the session or of this cell's top level, or nil for
// other objects.
func (l *namer) storage(obj types.Object) *Storage {
	v, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	if s := l.places[v]; s != nil {
		return s
	}
	return l.program.storage[l.program.names[v]]
}

// capture notes that a variable of the session may be used as long as a pointer to it or a generic
// function exists.
func (l *namer) capture(obj types.Object) {
	if s := l.storage(obj); s != nil {
		s.captured = true
	}
}

// captureOperand captures the variable that contains an operand.
func (l *namer) captureOperand(e ast.Expr) {
	if id := root(e); id != nil && l.info.Uses[id] != nil {
		l.capture(l.info.Uses[id])
	}
}

// outlives reports whether code may read the value assigned to e after the function with the
// assignment has ended.
func (l *namer) outlives(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return !ok || l.storage(l.info.ObjectOf(id)) != nil
}

func (l *namer) anyHoisted(names []*ast.Ident) bool {
	for _, id := range names {
		if l.hoisted[l.info.Defs[id]] {
			return true
		}
	}
	return false
}
