package run

import "os"

// stdout is the writer to which fmt prints in cells: the current os.Stdout, which cells may
// replace. Because it is not a file itself, yaegi lets cells use the variable os.Stdout of this
// process.
type stdout struct{}

func (stdout) Write(text []byte) (int, error) { return os.Stdout.Write(text) }
