package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Lines that are equal on all ranks are shown once, even if other processes keep the machine busy.
func TestFoldsOnABusyMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("short: keeps the machine busy")
	}
	h := newHome(t, 4)
	keepBusy(t, 8)
	x := h.terminal("-n", "4", "--device", "cpu")
	x.enter(`for i := range 12 { s := 0.0; for j := range 50000 { s += math.Sqrt(float64(j)) }; fmt.Println("work", i, s > 0) }`)
	x.expect("symm> ")
	if folded := strings.Count(shown(x), "[0-3] work "); folded < 8 {
		t.Errorf("%d of 12 lines are shown once", folded)
	}
}

// keepBusy runs this number of processes, which compute until the test ends.
func keepBusy(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		busy := exec.Command("/bin/sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			busy.Process.Kill()
			busy.Wait()
		})
	}
}
