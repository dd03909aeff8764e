package symmem

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// newWorld is a world of one rank on the cpu device.
func newWorld(tb testing.TB) *Runtime {
	d, err := cpu.Open(0)
	if err != nil {
		tb.Fatal(err)
	}
	rt, err := New(d, Config{Plan: tuning.CPU, Name: "cpu"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { rt.Close() })
	return rt
}
