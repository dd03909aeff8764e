package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/symmrepl/symmrepl/symmem/compilers"
)

// release is the version of the program.
const release = "0.1.0"

// version prints the versions of the program and of Go, the compiler of the program's C and C++, and
// the compiler of kernels.
func version(_ context.Context, _ options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("version takes no arguments")
	}
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = ", revision " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				revision += " with changes"
			}
		}
	}
	fmt.Fprintf(stdout, "symmrepl %s%s, %s %s/%s\n", release, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintln(stdout, compilers.About())
	return statusOK, nil
}
