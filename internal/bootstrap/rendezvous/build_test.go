package rendezvous

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	if got := Build(); !strings.HasPrefix(got, "symmrepl ") || !strings.HasSuffix(got, " for "+runtime.GOARCH) {
		t.Error(got)
	}
	for want, info := range map[string]*debug.BuildInfo{
		"of an unknown version": nil,
		"v1.2.3":                {Main: debug.Module{Path: module, Version: "v1.2.3"}},
		"v1.2.4": {Main: debug.Module{Path: "example.org/mine", Version: "v7.0.0"},
			Deps: []*debug.Module{{Path: "example.org/a", Version: "v1.0.0"}, {Path: module, Version: "v1.2.4"}}},
		"v1.2.5 (./vendored )": {Main: debug.Module{Path: "example.org/mine"},
			Deps: []*debug.Module{{Path: module, Version: "v1.2.5", Replace: &debug.Module{Path: "./vendored"}}}},
	} {
		if got := versionIn(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A rank that runs another build is refused, and both builds are named.
func TestOtherBuild(t *testing.T) {
	ctx := bounded(t)
	m := onSocket(t, 2)
	m.Build = "symmrepl v1.2.3 for amd64"
	s, err := m.Serve(ctx, func(*Link) (func(), string) { return func() {}, "" })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for build, want := range map[string]string{
		"symmrepl v1.2.3 for arm64": "rank 0 runs symmrepl v1.2.3 for amd64, and rank 1 runs symmrepl v1.2.3 for arm64: all ranks must run the same",
		"":                          "rank 0 runs symmrepl v1.2.3 for amd64, and rank 1 runs an unknown build of symmrepl: all ranks must run the same",
	} {
		other := m
		other.Build = build
		var refused *RefusedError
		if _, err := other.Join(ctx, 1, 0); !errors.As(err, &refused) || refused.Why != want {
			t.Errorf("%q: %v, want %s", build, err, want)
		}
	}
	link, err := m.Join(ctx, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	link.Close()
}
