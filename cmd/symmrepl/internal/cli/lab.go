package cli

import (
	"context"
	"errors"
)

// lab runs symmrepl lab in a program that was not installed with the Python package. The command
// symmrepl of the Python package handles lab itself.
func lab(context.Context, options, []string) (int, error) {
	return 0, errors.New("lab: JupyterLab is started by the Python package of symmrepl, which `make wheel` builds; " +
		"with this program, run symmrepl kernel install and then jupyter lab in the folder notebooks of the sources")
}
