package run

import "github.com/symmrepl/symmrepl/session/inband"

// stdout is the writer to which fmt prints in cells: the current os.Stdout, which cells may
// replace.
type stdout struct{}

func (stdout) Write(text []byte) (int, error) { return inband.WriteText(text) }
