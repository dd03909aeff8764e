package lower

import "go/types"

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
