package run

import "os"

// stdout is where fmt prints in cells: what os.Stdout is by then, which cells may replace. Because it is no file itself, yaegi leaves cells the variable
// os.Stdout of this process.
type stdout struct{}

func (stdout) Write(text []byte) (int, error) { return os.Stdout.Write(text) }
