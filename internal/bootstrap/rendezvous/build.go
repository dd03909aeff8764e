package rendezvous

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// module is the module path of symmrepl, also in programs that depend on it.
const module = "github.com/symmrepl/symmrepl"

// Build describes the part of this program's build that must be equal on all ranks of a world: the
// version of symmrepl and the architecture.
func Build() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("symmrepl %s for %s", versionIn(info), runtime.GOARCH)
}

// versionIn returns the version of symmrepl in a program. info is nil for a program without build
// information.
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
