package cli

import (
	"context"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/companion"
)

// accompany runs symmrepl companion: a program of Python whose processes are the ranks gets its
// kernels compiled, by messages on standard input and output.
func accompany(ctx context.Context, _ options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("companion takes no arguments: a program sends requests on standard input")
	}
	return statusOK, companion.Serve(ctx, os.Stdin, stdout)
}
