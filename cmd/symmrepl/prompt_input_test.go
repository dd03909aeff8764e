package main

import (
	"testing"
)

// If a cell reads from standard input, the user types the input once at the prompt, and all ranks
// receive it.
func TestInputAtPrompt(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter(`fmt.Print("name? "); var name string; fmt.Scanln(&name); fmt.Println(len(name), symm.Rank())`)
	x.expect("[0,1] name? ")
	x.send("Adb\x7fa\r")
	x.expect("[0] 3 0\n")
	x.expect("[1] 3 1\n")
	x.enter(`fmt.Scan(&name)`)
	x.send(ctrlD)
	x.expect("[0,1] 0, EOF\n")
	x.enter(`fmt.Println("reads"); fmt.Scan(&name)`)
	x.expect("[0,1] reads\n")
	x.send(ctrlC)
	x.expect("interrupted")
	x.enter("symm.WorldSize() + 40")
	x.expect("[0,1] 42\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
}

// An attached prompt asks for the input of its own cells, and the first prompt for the input of its
// own.
func TestInputOfAttached(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device())
	x.enter("var name string")
	y := h.terminal("attach")
	y.enter(`fmt.Scanln(&name); fmt.Println("read", name)`)
	y.send("beta\r")
	y.expect("[0,1] read beta\n")
	x.enter(`fmt.Scanln(&name); fmt.Println("read", name)`)
	x.send("alpha\r")
	x.expect("[0,1] read alpha\n")
	y.enter("name")
	y.expect("[0,1] \"alpha\"\n")
	y.send(ctrlD)
	y.exit(0)
}

// A script has no user to ask, so standard input is empty.
func TestInputOfScript(t *testing.T) {
	t.Parallel()
	r := newHome(t, 2).run("", "-n", "2", "--device", device(), "-e", `fmt.Scan(new(int))`)
	if want := (result{0, "[0,1] 0, EOF\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}
