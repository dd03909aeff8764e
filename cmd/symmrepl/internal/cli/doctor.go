package cli

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem"
)

// doctor runs symmrepl doctor.
func doctor(args []string) (int, error) {
	if len(args) > 0 {
		return 0, misused("doctor takes no arguments")
	}
	fmt.Print(symmem.Doctor())
	return statusOK, nil
}
