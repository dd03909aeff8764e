package run

import "os"

// Descriptors of this process.
const (
	standardOutput = 1
	standardError  = 2
)

// stdout is the writer to which fmt prints in cells: the current os.Stdout, which cells may
// replace. Because it is not a file itself, yaegi lets cells use the variable os.Stdout of this
// process.
type stdout struct{}

func (stdout) Write(text []byte) (int, error) {
	awaitRead(standardError)
	return os.Stdout.Write(text)
}

// writeStderr writes text of the builtins print and println.
func writeStderr(text []byte) {
	awaitRead(standardOutput)
	os.Stderr.Write(text)
}
