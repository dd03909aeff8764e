package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"testing"
)

// A cell does no harm if it closes or writes to the descriptors 3 and 4, at which its process
// inherited its connections. A cell ends its rank if it finds those connections at their present
// numbers or forbids its process the files that it needs. The session then names the rank and
// replaces it, and the next collective works.
func TestDescriptorsOfOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device())
	x.expect("2 ranks, ")
	sum := func(number int) {
		t.Helper()
		x.enter(fmt.Sprintf(`s%[1]d := symm.Empty(symm.I32, 1).Fill(symm.Rank() + 1); symm.Rendezvous(s%[1]d); fmt.Println("sum", %[1]d, symm.AllReduce(s%[1]d, "sum").Ints())`, number))
		x.expect(fmt.Sprintf("[0,1] sum %d [3]\n", number))
	}
	x.enter(`import "syscall"`)
	sum(1)
	x.enter(`if symm.Rank() == 1 { for fd := 3; fd <= 4; fd++ { syscall.Write(fd, []byte("what is no message")); syscall.Close(fd) } }`)
	sum(2)
	for number, c := range []struct{ cell, cause string }{
		{`syscall.Close(1000)`, "lost its connection with the session: a cell closed descriptors that are not its own"},
		{`syscall.Close(1001)`, "lost its connection with the other ranks: a cell closed descriptors that are not its own"},
		{`syscall.Close(1002)`, "lost its connection with the session: a cell closed descriptors that are not its own"},
		{`syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: 3})`, "may have 3 files open, and needs "},
		{`syscall.Write(1000, []byte(strings.Repeat("x", 4096)))`, "wrote invalid data to its connection with the session"},
	} {
		x.enter(fmt.Sprintf(`if symm.Rank() == 1 { %s }`, c.cell))
		x.expect("rank 1 " + c.cause)
		sum(3 + number)
	}
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}

// If a cell stops its own process, the session says that the process is stopped. An interrupt lets it
// go on and ends the cell: the rank keeps its variables, and the next collective works.
func TestRankStopsItself(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--device", device())
	x.expect("2 ranks, ")
	x.enter(`import "syscall"`)
	x.enter(`kept := symm.Rank() + 5`)
	// another thread may take the signal first, and this one runs on meanwhile
	x.enter(`if symm.Rank() == 1 { syscall.Kill(syscall.Getpid(), syscall.SIGSTOP); time.Sleep(time.Hour) }; symm.Meet()`)
	x.expect("does not answer: its process is stopped (SIGCONT continues it)")
	x.send(ctrlC)
	x.expect("interrupted")
	x.enter(`kept`)
	x.expect("[1] 6\n")
	x.enter(`t := symm.Empty(symm.I32, 1).Fill(symm.Rank() + 1); symm.Rendezvous(t); fmt.Println("sum", symm.AllReduce(t, "sum").Ints())`)
	x.expect("[0,1] sum [3]\n")
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}

// If `ulimit -v` leaves a process too few addresses, one line says so.
func TestTooFewAddresses(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	cmd := h.command("-n", "2", "--device", "cpu", "-e", "1")
	cmd.Path, cmd.Args = "/bin/bash", append([]string{"bash", "-c", `ulimit -v 500000; exec "$@"`, "bash"}, cmd.Args...)
	said, err := cmd.CombinedOutput()
	want := regexp.MustCompile("^symmrepl: `ulimit -v` permits a process 500000 KiB of addresses, and it needs \\d+ at least\n$")
	if exit, failed := err.(*exec.ExitError); !failed || exit.ExitCode() != 3 || !want.Match(said) {
		t.Errorf("%v: %.500s", err, said)
	}
}
