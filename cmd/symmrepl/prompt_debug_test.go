package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopped waits for the prompt of a cell that stands.
func (x *terminal) stopped(at ...string) {
	x.t.Helper()
	for _, text := range at {
		x.expect(text)
	}
	x.expect("stopped> ")
}

// A breakpoint in a loop, and one in a function that a later cell calls: the prompt shows where the
// ranks stand, evaluates in the frame of each, steps and goes on.
func TestBreakAtPrompt(t *testing.T) {
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter(":break 3")
	x.expect("each next  3")
	x.send("for i := range 2 {\r\tsq := i * 7 + symm.Rank()\r\tfmt.Println(\"it is\", sq)\r}\r\r")
	x.stopped("[0,1] > cell[1]:3 (breakpoint)  fmt.Println(\"it is\", sq)\n")
	x.send("sq + 10\r")
	x.stopped("[0] 10\n", "[1] 11\n")
	x.send(":vars\r")
	x.stopped("sq", "int")
	x.send(":diff sq\r")
	x.stopped(":diff waits for the cell that stands")
	x.send("sq = 40\r")
	x.stopped()
	x.send(":step\r")
	x.stopped("[0,1] it is 40\n", "[0,1] > cell[1]:2 (step)  sq := i * 7 + symm.Rank()\n")
	x.send(":con\r")
	x.stopped("[0,1] > cell[1]:3 (breakpoint)")
	x.send(ctrlD) // as :continue
	x.expect("[0] it is 7\n")
	x.enter(":break off")

	x.enter("func early() int { return 1 }")
	x.enter(":break 3:1")
	x.send("func double(n int) int {\r\treturn 2 * n\r}\r")
	x.enter(":break 3:2")
	x.enter(":break")
	x.expect("3")
	x.expect("symm> ")
	x.send("double(symm.Rank() + early())\r")
	x.stopped("[0,1] > cell[3]:2 (breakpoint)  return 2 * n\n")
	x.send("n\r")
	x.stopped("[0] 1\n", "[1] 2\n")
	x.send(":step out\r")
	x.expect("[0] 2\n")
	x.expect("[1] 4\n")
	x.expect("symm> ")
}

// One rank stands, the other waits for it for longer than the watchdog takes: no table, and the cell
// ends well. Ctrl-C ends a cell that stands; :quit ends the session.
func TestStandingAtPrompt(t *testing.T) {
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device())
	pid := x.pid(0)
	x.enter("t := symm.Empty(symm.I32, 4); t.Fill(1); h := symm.Rendezvous(t)")
	x.enter(":break 2")
	x.send("func() int {\r\tif symm.Rank() == 0 {\r\t\tt.Fill(5)\r\t}\r\th.Barrier(0)\r\tsymm.Synchronize()\r\treturn 3\r}()\r")
	x.stopped("[0,1] > cell[3]:2 (breakpoint)  if symm.Rank() == 0 {\n")
	x.send(ctrlC)
	x.expect("interrupted")
	x.enter(":break off")
	x.enter(":break 3")
	x.send("func() int {\r\tif symm.Rank() == 0 {\r\t\tt.Fill(5)\r\t}\r\th.Barrier(0)\r\tsymm.Synchronize()\r\treturn 3\r}()\r")
	x.stopped("[0] > cell[4]:3 (breakpoint)  t.Fill(5)\n", "[1]   waits in ", "for rank 0")
	time.Sleep(4 * time.Second) // longer than it takes to report a hang, or to end a deadlock
	x.send(":c\r")
	x.stopped("\"c\" may be any of")
	x.send(":cont\r")
	x.expect("[0,1] 3\n")
	x.mu.Lock()
	if strings.Contains(x.shown.String(), "has run for") {
		t.Error("the watchdog has taken a rank that stands for a hang")
	}
	x.mu.Unlock()
	x.expect("symm> ")

	x.send("func() int {\r\tif symm.Rank() == 0 {\r\t\tt.Fill(5)\r\t}\r\treturn 3\r}()\r")
	x.stopped("[0] > cell[5]:3", "[1]   has finished the cell")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.expect("rank 0")
	x.expect("symm> ")
	x.send("for i := range 2 {\r\tfmt.Println(i)\r\tfmt.Println(i)\r}\r\r")
	x.stopped("[0,1] > cell[6]:3")
	x.send(":quit\r")
	x.exit(0)
	h.expectNothingLeft()
}
