package cli

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/symmem"
)

// doctor runs symmrepl doctor.
func doctor(_ context.Context, _ options, args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("doctor takes no arguments")
	}
	fmt.Fprint(stdout, symmem.Doctor())
	return statusOK, nil
}
