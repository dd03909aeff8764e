package net

import (
	"fmt"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/net/ucx"
)

// Library is the libucp that this process uses.
type Library struct {
	Path    string
	Version string // "1.22.0"
	Origin  string // where it was found: "SYMMREPL_UCX_LIB", "LD_LIBRARY_PATH", "ldconfig", "python"
}

func (l Library) String() string { return fmt.Sprintf("UCX %s: %s (%s)", l.Version, l.Path, l.Origin) }

// UnavailableError is the error of a provider "ucx" that cannot be used. It has the reason, and a
// remedy.
type UnavailableError struct {
	Why  string
	Hint string
}

func (e *UnavailableError) Error() string { return "UCX cannot be used: " + e.Why + "; " + e.Hint }

// Available opens UCX, unless the process has already done so, and returns the library that it
// uses: the first one found that can be opened.
func Available() (Library, error) {
	kind := libs.UCX()
	var why []string
	for _, l := range libs.ThisHost().Find(kind) {
		version, err := ucx.Load(l.Path)
		if err == nil {
			return Library{l.Path, version, l.Origin}, nil
		}
		why = append(why, l.Path+": "+err.Error())
	}
	if own := os.Getenv(kind.Env); len(why) == 0 && own != "" {
		why = append(why, kind.Env+" is "+own+", where there is no libucp.so.0")
	}
	if len(why) == 0 {
		why = append(why, "there is no libucp.so.0")
	}
	return Library{}, &UnavailableError{strings.Join(why, "; "), kind.Hint}
}
