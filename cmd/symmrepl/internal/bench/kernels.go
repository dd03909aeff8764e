package bench

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed kernels.go.cell
var kernelsProgram string

//go:embed kernels.peer
var kernelsPeer string

// kernelsWays are the columns of the table.
var kernelsWays = []string{"symmrepl", "g++ -O2"}

// Kernels measures kernels and collectives of a session of the cpu device beside the same loops as
// C++ for two threads, which g++ -O2 compiles if PATH has it, and prints a table to out. The first
// line names the measurement.
func Kernels(ctx context.Context, s session.Session, out io.Writer) error {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, session: s}
	said, err := b.program("import (\"fmt\"; \"math\"; \"syscall\"; \"time\")\n" + kernelsProgram)
	if err != nil {
		return err
	}
	missing := ""
	loops, err := kernelLoops(ctx)
	if err != nil {
		missing = fmt.Sprintf("the loops of C++ are not measured: %v\n", err)
	}
	figures, _, err := parseFigures(said + loops)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %s; µs: of kernels the processor's time of all threads, of collectives the time of the quickest call\n%s", session.FormatSize(len(infos)), infos[0].Device, missing)
	return printFigures(figures, kernelsWays, 1, "ratio", out)
}

// kernelLoops compiles kernels.peer, runs it, and returns its output.
func kernelLoops(ctx context.Context) (string, error) {
	gxx, err := exec.LookPath("g++")
	if err != nil {
		return "", fmt.Errorf("there is no g++ on PATH")
	}
	folder, err := os.MkdirTemp("", "symmrepl-bench-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithTimeout(ctx, peersTime)
	defer cancel()
	program := filepath.Join(folder, "loops")
	compile := exec.CommandContext(ctx, gxx, "-x", "c++", "-std=c++20", "-O2", "-pthread", "-o", program, "-")
	compile.Stdin = strings.NewReader(kernelsPeer)
	if text, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", gxx, err, strings.TrimSpace(string(text)))
	}
	said, err := exec.CommandContext(ctx, program).Output()
	return string(said), err
}
