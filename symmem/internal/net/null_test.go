package net_test

import (
	"flag"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
	"github.com/symmrepl/symmrepl/symmem/internal/net/nettest"
)

func TestMain(m *testing.M) { nettest.Main(m) }

func nullOptions(seed uint64) nettest.Options {
	return nettest.Options{Config: net.Config{Provider: "null"}, Null: net.NullSettings{Seed: seed}}
}

func TestNull(t *testing.T) { nettest.Run(t, nullOptions(1)) }

var (
	perf  = flag.Bool("perf", false, "measure the providers")
	seeds = flag.Int("seeds", 20, "in how many ways messages overtake each other")
)

func TestPerf(t *testing.T) {
	if !*perf {
		t.Skip("without -perf")
	}
	for _, o := range []nettest.Options{nullOptions(1), ucxOptions()} {
		t.Run(o.Config.Provider, func(t *testing.T) { o.Scenario(t, "perf", 2) })
	}
}

// TestNullReorder checks that reordered messages show the difference between weak and strong
// signals, and change nothing else.
func TestNullReorder(t *testing.T) {
	o := nullOptions(3)
	o.Seeds = *seeds
	for _, name := range []string{"lossy", "slow"} {
		t.Run(name, func(t *testing.T) { o.Scenario(t, name, 2) })
	}
	t.Run("seeds", func(t *testing.T) { o.Scenario(t, "seeds", 2) })
	o.Null.Reorder = true
	nettest.Run(t, o)
}
