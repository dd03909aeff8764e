package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Two terminals with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are enough for a prompt. A rank
// that waits says which ranks it waits for.
func TestStartedByHand(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	port := freePort(t)
	h.env = byHand(0, 2, port)
	x := h.terminal("--device", device())
	x.expect("rank 0 of 2 waits for rank 1 at ")
	h.env = byHand(1, 2, port)
	y := h.terminal("--device", device())
	x.enter("symm.Rank() + 40")
	x.expect("[0] 40\n[1] 41\n")
	x.expect("symm> ")
	x.send(ctrlD)
	x.exit(0)
	y.exit(0)
	y.refuse("waits")
	h.expectNothingLeft()
}

// Ctrl-C ends a rank that waits for others. The rank says which ones it waited for.
func TestStartedByHandInterrupted(t *testing.T) {
	t.Parallel()
	for rank, want := range [][2]string{{"rank 1,2 at ", "rank 1,2 did not join at "},
		{"rank 0 at ", "ended while rank 1 waited for rank 0 at "}} {
		h := newHome(t, 3)
		h.env = byHand(rank, 3, freePort(t))
		x := h.terminal("--device", device())
		x.expect(fmt.Sprintf("rank %d of 3 waits for %s", rank, want[0]))
		x.send(ctrlC)
		x.expect(want[1])
		x.exit(130)
		h.expectNothingLeft()
	}
}

// A rank that has reached rank 0 also says which other ranks it waits for, and Ctrl-C ends it too.
func TestStartedByHandOneMissing(t *testing.T) {
	t.Parallel()
	h := newHome(t, 3)
	port := freePort(t)
	h.env = byHand(0, 3, port)
	x := h.terminal("--device", device())
	h.env = byHand(1, 3, port)
	y := h.terminal("--device", device())
	y.expect("rank 1 of 3 waits for rank 2 at ")
	x.expect("rank 0 of 3 waits for rank ")
	y.send(ctrlC)
	y.expect("ended while rank 1 waited for rank 2 at ")
	y.exit(130)
	x.send(ctrlC)
	x.expect(" did not join at ")
	x.exit(130)
	h.expectNothingLeft()
}

// If variables are missing or wrong, the error says so at once.
func TestStartedByHandIncomplete(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ env, want string }{
		{"RANK=0 WORLD_SIZE=2", "set without MASTER_PORT"},
		{"WORLD_SIZE=2", "ranks that are started by hand on one host need RANK, WORLD_SIZE and MASTER_PORT"},
		{"RANK=2 WORLD_SIZE=2 MASTER_PORT=29500", "RANK and WORLD_SIZE say that this is rank 2 of 2; ranks count from 0"},
		{"RANK=0 WORLD_SIZE=2 MASTER_ADDR=192.0.2.1 MASTER_PORT=29500",
			"MASTER_ADDR=192.0.2.1 is another host: set LOCAL_RANK and LOCAL_WORLD_SIZE"},
		{"RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=localhost MASTER_PORT=29500",
			"LOCAL_WORLD_SIZE=2 says that all ranks are on this host"},
	} {
		h := newHome(t, 1)
		h.env = append(strings.Fields(test.env), "XDG_CONFIG_HOME="+h.dir, "SYMMREPL_TOKEN=")
		if r := h.run("", "--device", device(), "-e", "1"); r.status != 3 || !strings.Contains(r.err, test.want) {
			t.Errorf("%s: %+v, want %q", test.env, r, test.want)
		}
	}
}

// If there are several sessions, attach asks which one at a terminal and refuses elsewhere. It says
// which session it took.
func TestAttachChooses(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	first := h.terminal("-n", "1", "--device", "cpu")
	first.enter(`mark := "first"`)
	first.expect("symm> ")
	one := h.terminal("attach")
	one.expect("attached to the session in ")
	one.enter("mark")
	one.expect(`"first"`)
	one.expect("symm> ")
	one.send(ctrlD)
	one.exit(0)

	second := h.terminal("-n", "2", "--device", "cpu")
	second.enter(`mark := "second"`)
	second.expect("symm> ")
	for answer, want := range map[string]string{"2\r": `"first"`, "9\rx\r\r": `"second"`} {
		x := h.terminal("attach")
		x.expect("2 sessions of yours run on this host:\n")
		x.expect("2 ranks, cpu, since ")
		x.expect("1 rank, cpu, since ")
		x.expect("Which one? ")
		x.send(answer)
		x.expect("attached to the session in ")
		x.enter("mark")
		x.expect(want)
		x.expect("symm> ")
		x.send(ctrlD)
		x.exit(0)
	}
	x := h.terminal("attach")
	x.expect("Which one? ")
	x.send(ctrlC)
	x.expect("no session was chosen")
	x.exit(130)

	signalTo(t, first.cmd.Process.Pid, syscall.SIGSTOP)
	r := h.run("", "attach")
	if err := first.cmd.Process.Signal(os.Signal(syscall.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	if r.status != 3 || !strings.Contains(r.err, "2 sessions of yours run on this host:") ||
		!strings.Contains(r.err, "  does not answer, since ") ||
		!strings.Contains(r.err, "name one, as in `symmrepl attach "+h.dir) {
		t.Errorf("%+v", r)
	}
}
