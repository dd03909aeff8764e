package rendezvous

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// module is symmrepl's, as programs that use it name it too.
const module = "github.com/symmrepl/symmrepl"

// Build names what this process runs, as far as the ranks of a world must run the same: the version of symmrepl and the architecture.
func Build() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("symmrepl %s for %s", versionIn(info), runtime.GOARCH)
}

// versionIn is the version of symmrepl in a program; nil is one that does not say how it was built.
func versionIn(info *debug.BuildInfo) string {
	if info == nil {
		return "of an unknown version"
	}
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		switch {
		case m.Path != module:
		case m.Replace != nil:
			return fmt.Sprintf("%s (%s %s)", m.Version, m.Replace.Path, m.Replace.Version)
		default:
			return m.Version
		}
	}
	return "of an unknown version"
}
