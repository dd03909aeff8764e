package main

import "testing"

// A guest's cell that never ends holds the owner's next cell. The owner is told how to stop it, and
// keeps the variables.
func TestGuestsEndlessCell(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	owner := h.terminal("-n", "2", "--device", device())
	owner.enter(`kept := symm.Empty(symm.F32, 4).Fill(41); fmt.Println("it is", "ready")`)
	owner.expect("it is ready")
	guest := h.terminal("attach")
	guest.expect("attached to the session")
	guest.enter(`fmt.Println("it", "begins"); for { }`)
	guest.expect("it begins")
	owner.enter(`fmt.Println("it is", kept.Float32s()[3]+1)`)
	owner.expect("this cell waits for cell 2")
	owner.send(ctrlC)
	owner.expect("interrupted while it waited for cell 2")
	owner.expect("`:stop` interrupts that one")
	owner.enter(":stop")
	owner.expect("cell 2 is interrupted")
	guest.expect("interrupted")
	owner.enter(`fmt.Println("it is", kept.Float32s()[3]+1)`)
	owner.expect("it is 42")
}
