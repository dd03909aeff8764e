package net_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// TestUnavailable checks that the error names a library that cannot be opened, and has a hint.
func TestUnavailable(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "libucp.so.0")
	if err := os.WriteFile(broken, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for own, why := range map[string]string{
		"/nowhere": "SYMMREPL_UCX_LIB is /nowhere, where there is no libucp.so.0",
		broken:     broken + ": " + broken + ": file too short",
	} {
		t.Setenv("SYMMREPL_UCX_LIB", own)
		_, err := net.Available()
		var un *net.UnavailableError
		if !errors.As(err, &un) || un.Why != why || !strings.Contains(un.Hint, "apt install libucx0") || !strings.Contains(un.Hint, "pip install libucx-cu13") {
			t.Errorf("%s: %v", own, err)
		}
		_, err = net.Open(net.Config{Size: 1, Provider: "ucx"})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("open with %s: %v", own, err)
		}
	}
}

func TestRefusedConfigs(t *testing.T) {
	for _, c := range []struct {
		config net.Config
		want   string
	}{
		{net.Config{Size: 1, Provider: "tcp"}, `network of rank 0: open: no provider is called "tcp": there are "ucx" and "null"`},
		{net.Config{Rank: 2, Size: 2, Provider: "null"}, "network of rank 2: open: rank 2 of 2; a network connects 1 to 1024 ranks"},
		{net.Config{Size: 1, Provider: "null", Dir: "/nowhere"}, "network of rank 0: open: the null network cannot use the folder: No such file or directory"},
		{net.Config{Size: 1, Provider: "null", Signals: -1, Dir: "/tmp"}, "network of rank 0: open: -1 signals"},
	} {
		if _, err := net.Open(c.config); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}
