package cuda

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels"
)

// snippetHeaders returns the headers that a user's snippet can include without a file: the public
// headers of package kernels and C's headers. The headers named in first are included ahead of the
// text.
func snippetHeaders() (headers [][2]string, first []string) {
	headers = slices.Concat(named(kernels.CHeaders()), named(kernels.Headers()), named(kernels.LibraryHeaders()))
	return headers, []string{"stdint.h", "symm.cuh"}
}

// standIns returns headers that a snippet can include if CUDA's toolkit is not installed.
func standIns() [][2]string { return named(kernels.ToolkitHeaders()) }

// builtinHeaders returns the headers that the operations of package kernels include.
func builtinHeaders() [][2]string { return named(kernels.BuiltinHeaders()) }

func named(files []kernels.File) [][2]string {
	var headers [][2]string
	for _, f := range files {
		headers = append(headers, [2]string{f.Name, f.Text})
	}
	return headers
}
