package procfs

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

const statLine = "77 (a b) c) R 1 77 77 0 -1 4194564 100 0 0 0 5 3 0 0 20 0 7 0 12345 1000000 250 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 9"

func TestParse(t *testing.T) {
	s, err := parse(statLine)
	if err != nil || s != (Stat{"R", true, true, true, 9, 250 * int64(syscall.Getpagesize()), 1, "12345"}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := parse("1 (x) S"); err == nil || s.Started != "" {
		t.Errorf("%+v of a line that is cut", s)
	}
	if self, err := Of(syscall.Getpid()); err != nil || self.Exiting || self.Left || self.RSS < 1<<20 || self.Started == "" {
		t.Errorf("%+v, %v", self, err)
	}
	if _, err := Of(1 << 30); err == nil {
		t.Error("a process that is not there")
	}
}

// Known is set as soon as the kernel provides the exit status, and never before.
func TestStatus(t *testing.T) {
	const exiting, living = "4194564", "4194560"
	for _, c := range []struct {
		name, state, flags, pages, pending, code string
		exits, left, known                       bool
	}{
		{"it lives", "R", living, "250", "0", "0", false, false, false},
		{"it is stopped", "T", living, "250", "0", "19", false, false, false},
		{"another thread has called exit(2)", "R", living, "250", "256", "512", true, false, true},
		{"another thread has called exit(0), or an old kernel kills it", "R", living, "250", "256", "0", true, false, false},
		{"it is killed", "R", living, "250", "256", "9", true, false, true},
		{"it is killed while it is stopped", "T", living, "250", "256", "19", true, false, false},
		{"it begins to exit", "R", exiting, "250", "0", "0", true, true, false},
		{"it exits with 2", "R", exiting, "250", "0", "512", true, true, true},
		{"it exits with 0", "D", exiting, "0", "0", "0", true, true, true},
		{"it has exited", "Z", living, "0", "0", "0", true, true, true},
	} {
		fields := strings.Fields(statLine)
		first := len(fields) - 1 - fieldExitCode
		for field, value := range map[int]string{fieldState: c.state, fieldFlags: c.flags, fieldPages: c.pages,
			fieldPending: c.pending, fieldExitCode: c.code} {
			fields[first+field] = value
		}
		s, err := parse(strings.Join(fields, " "))
		if err != nil || s.Exiting != c.exits || s.Left != c.left || s.Known != c.known || fmt.Sprint(int(s.Status)) != c.code {
			t.Errorf("%s: %+v, %v", c.name, s, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(statLine)
	f.Add("1 (x) S")
	f.Fuzz(func(t *testing.T, s string) {
		parse(s)
	})
}
