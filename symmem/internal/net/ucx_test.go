package net_test

import (
	"os"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
	"github.com/symmrepl/symmrepl/symmem/internal/net/nettest"
)

// olderVariable names a second, older library, so that one run tests both.
const olderVariable = "SYMMREPL_UCX_LIB_OLDER"

func ucxOptions() nettest.Options {
	return nettest.Options{Config: net.Config{Provider: "ucx", Interface: "lo", TLS: "tcp,self"}}
}

// TestUCX opens the library only in rank processes, never in the test's own.
func TestUCX(t *testing.T) {
	for _, variable := range []string{"SYMMREPL_UCX_LIB", olderVariable} {
		t.Run(variable, func(t *testing.T) {
			library := os.Getenv(variable)
			if library == "" {
				t.Skip(variable + " is not set: make test says why")
			}
			t.Setenv("SYMMREPL_UCX_LIB", library)
			nettest.Run(t, ucxOptions())
		})
	}
}
