package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/symmem"
)

// doctor runs symmrepl doctor.
func doctor(_ context.Context, _ options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("doctor takes no arguments")
	}
	fmt.Fprint(stdout, render.Fit(symmem.Doctor(), term.ColumnsOf(os.Stdout)))
	return statusOK, nil
}
