package lower

import (
	"go/ast"
	"go/types"
)

// namer knows what objects are called in yaegi, those of the session, the cell's, and instances, which it names when they are used first. Whatever two types are
// called differently is not the same type.
type namer struct {
	facts
	program   *Program
	names     map[types.Object]string      // what this cell's objects are called in yaegi
	declared  map[types.Object]string      // what functions that are defined again are called in their declaration; uses have the name of the first
	renamed   map[types.Object]string      // local variables that have another name in yaegi
	hoisted   map[types.Object]bool        // variables of the cell's top level
	places    map[*types.Var]*Storage      // where they are kept
	params    map[types.Object]bool        // type parameters of instances: they stand for the type arguments
	recursion map[*types.Named]bool        // whether a type is recursive
	instances map[types.Object][]*instance // that this cell is the first to use
	pending   []*instance                  // of them, those that are not lowered yet
}

// name is the identifier of an object of the session or of this cell; local objects keep theirs.
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

// storage returns where a variable of the session or of this cell's top level is kept, nil for all else.
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

// capture notes that a variable of the session may be used for as long as a pointer to it or a generic function lives.
func (l *namer) capture(obj types.Object) {
	if s := l.storage(obj); s != nil {
		s.captured = true
	}
}

// captureOperand captures the variable that an operand is a part of.
func (l *namer) captureOperand(e ast.Expr) {
	if id := root(e); id != nil && l.info.Uses[id] != nil {
		l.capture(l.info.Uses[id])
	}
}

// outlives reports whether what is assigned to e may be seen when the function that assigns it has ended.
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
