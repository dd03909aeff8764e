package procfs

import (
	"strings"
	"syscall"
	"testing"
)

const statLine = "77 (a b) c) R 1 77 77 0 -1 4194564 100 0 0 0 5 3 0 0 20 0 7 0 12345 1000000 250 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 9"

func TestParse(t *testing.T) {
	s, err := parse(statLine)
	if err != nil || s != (Stat{"R", true, 9, 250 * int64(syscall.Getpagesize()), 1, "12345"}) {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = parse(strings.Replace(statLine, "4194564", "4194560", 1))
	if err != nil || s.Exiting {
		t.Errorf("%+v, %v", s, err)
	}
	fields := strings.Fields(strings.Replace(statLine, "4194564", "4194560", 1))
	fields[len(fields)-1], fields[len(fields)-(fieldExitCode-fieldPending)-1] = "0", "256" // killed, and not exiting yet
	s, err = parse(strings.Join(fields, " "))
	if err != nil || !s.Exiting || s.Status != syscall.WaitStatus(syscall.SIGKILL) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := parse("1 (x) S"); err == nil || s.Started != "" {
		t.Errorf("%+v of a line that is cut", s)
	}
	if self, err := Of(syscall.Getpid()); err != nil || self.Exiting || self.RSS < 1<<20 || self.Started == "" {
		t.Errorf("%+v, %v", self, err)
	}
	if _, err := Of(1 << 30); err == nil {
		t.Error("a process that is not there")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(statLine)
	f.Add("1 (x) S")
	f.Fuzz(func(t *testing.T, s string) {
		parse(s)
	})
}
