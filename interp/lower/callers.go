package lower

import "go/types"

// A function that is defined again with another signature is a different function: earlier callers
// go on calling the old one. The cell that defines it prints a note that lists them.

// note records that the named function, which a cell defines, uses the functions in uses; all names
// are yaegi's.
func (c callers) note(name, cell string, uses []string) {
	c.forget(name)
	c.calls[name] = uses
	for _, used := range uses {
		if c.of[used] == nil {
			c.of[used] = map[string]string{}
		}
		c.of[used][name] = cell
	}
}

// forget drops a function whose name was defined again.
func (c callers) forget(name string) {
	for _, used := range c.calls[name] {
		if delete(c.of[used], name); len(c.of[used]) == 0 {
			delete(c.of, used)
		}
	}
	delete(c.calls, name)
}

// forgetType drops the methods of a type whose name was defined again.
func (c callers) forgetType(t types.Type) {
	if named, ok := t.(*types.Named); ok {
		for m := range named.Methods() {
			c.forget(named.Obj().Name() + "." + m.Name())
		}
	}
}
