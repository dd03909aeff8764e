package cuda

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
)

// The vendor's libraries that back ends use: NCCL and NVSHMEM.

// openLibrary returns the first library of a kind that open accepts. The error, a
// *device.UnavailableError, is about the preferred one.
func openLibrary[T any](host libs.Host, kind libs.Kind, open func(path string) (T, error)) (l T, err error) {
	failed := unavailable(kind.Name+" was not found", kind.Hint)
	if own := host.Getenv(kind.Env); own != "" {
		failed = unavailable(fmt.Sprintf("%s was not found: %s is %s, which has no %s", kind.Name, kind.Env, own, kind.Name),
			fmt.Sprintf("set it to %s or its folder, or unset it", kind.Sonames[0]))
	}
	for i, found := range host.Find(kind) {
		l, err := open(found.Path)
		if err == nil {
			return l, nil
		}
		if i == 0 {
			failed = unavailable(kind.Name+" cannot be used: "+err.Error(),
				fmt.Sprintf("`pip install %s`, or set %s to another library", kind.Package, kind.Env))
		}
	}
	return l, failed
}
