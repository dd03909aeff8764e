package environ

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// unset removes variables after the test.
func unset(t *testing.T, names ...string) {
	t.Cleanup(func() {
		for _, name := range names {
			os.Unsetenv(name)
		}
	})
}

// Variables reach Go and programs that Go starts, are replaced, and may be unset and set again.
func TestSetenv(t *testing.T) {
	unset(t, "ENVIRON_A", "ENVIRON_AB")
	for _, v := range []string{"ENVIRON_A=1", "ENVIRON_AB=", "ENVIRON_A=2=3"} {
		name, value, _ := strings.Cut(v, "=")
		if err := Setenv(name, value); err != nil {
			t.Fatal(err)
		}
		if got, set := os.LookupEnv(name); !set || got != value {
			t.Errorf("%s is %q, %t", name, got, set)
		}
	}
	os.Unsetenv("ENVIRON_A")
	if _, set := os.LookupEnv("ENVIRON_A"); set {
		t.Error("ENVIRON_A is still set")
	}
	if err := Setenv("ENVIRON_A", "4"); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("env").Output()
	lines := strings.Split(string(out), "\n")
	if err != nil || !slices.Contains(lines, "ENVIRON_A=4") || !slices.Contains(lines, "ENVIRON_AB=") {
		t.Errorf("a program sees %q (%v)", lines, err)
	}
	for _, v := range [][2]string{{"", "x"}, {"A=B", "x"}, {"ENVIRON\x00", "x"}, {"ENVIRON_C", "\x00"}} {
		if err := Setenv(v[0], v[1]); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v", v, err)
		}
	}
}

func TestComplete(t *testing.T) {
	unset(t, "ENVIRON_D", "ENVIRON_E")
	t.Setenv("ENVIRON_D", "")
	if err := Complete("ENVIRON_D=1", "ENVIRON_E=a=b"); err != nil {
		t.Fatal(err)
	}
	if d, e := os.Getenv("ENVIRON_D"), os.Getenv("ENVIRON_E"); d != "" || e != "a=b" {
		t.Errorf("%q, %q", d, e)
	}
}

// A thread that reads the environment while variables are added goes on in the array with which it began.
func TestReadersGoOn(t *testing.T) {
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprint("ENVIRON_", i))
	}
	unset(t, names...)
	var begun [][]*entry // the arrays at several times
	var had [][]*entry   // what they held
	for i, name := range names {
		if i%100 == 0 {
			begun = append(begun, entries())
			had = append(had, slices.Clone(entries()))
		}
		if err := Setenv(name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	for i, array := range begun {
		if !slices.Equal(array, had[i]) {
			t.Errorf("the array of %d variables has changed", len(array))
		}
	}
	if got := len(entries()) - len(had[0]); got != len(names) {
		t.Errorf("%d variables were added, want %d", got, len(names))
	}
}
