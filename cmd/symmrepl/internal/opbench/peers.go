package opbench

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed peers.py
var peers string

// peersTime bounds a run of peers.py.
const peersTime = 3 * time.Minute

// backends lists the runs of peers.py, with the peers that each measures.
var backends = []struct{ name, who string }{{"CUDA", "PyTorch and NCCL"}, {"NVSHMEM", "NVSHMEM"}}

// peers measures operations by PyTorch, NCCL and NVSHMEM; more are arguments of peers.py. It notes
// in r.missing the peers that cannot be measured.
func (r *run) peers(names []string, sizes []int, more ...string) []Figure {
	if r.shared != nil {
		r.missing = append(r.missing, "PyTorch, NCCL and NVSHMEM not measured: they need a GPU for each rank")
		return nil
	}
	var figures []Figure
	for _, b := range backends {
		theirs := slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return strings.Contains(name, "vdev") != (b.name == "NVSHMEM") })
		if len(theirs) == 0 {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s, for %v at most\n", b.who, peersTime)
		found, err := torchrun(r.ctx, r.ranks, append([]string{b.name, r.o.DType, commas(sizes), strings.Join(theirs, ",")}, more...))
		for _, f := range found {
			if f.Op != "" {
				figures = append(figures, f)
				continue
			}
			r.missing = append(r.missing, fmt.Sprintf("%s not measured: %s", f.By, f.Error))
			err = nil // it says the same
		}
		if err != nil {
			r.missing = append(r.missing, fmt.Sprintf("%s not measured: %v", b.who, err))
		}
	}
	return figures
}

// torchrun runs peers.py on every rank. It returns the measured figures even with an error.
func torchrun(ctx context.Context, ranks int, args []string) ([]Figure, error) {
	ctx, cancel := context.WithTimeout(ctx, peersTime)
	defer cancel()
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, fmt.Errorf("there is no python3 on PATH")
	}
	dir, err := os.MkdirTemp("", "symmrepl-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, []byte(peers), 0o600); err != nil {
		return nil, err
	}
	// PyTorch 1.13 knows --nproc_per_node only, later ones --nproc-per-node as well.
	cmd := exec.CommandContext(ctx, python,
		append([]string{"-m", "torch.distributed.run", "--standalone", "--nproc_per_node", strconv.Itoa(ranks), script}, args...)...)
	// torchrun ends its processes on SIGTERM, but not if it is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, failed := cmd.Output()
	figures, err := parse(bytes.NewReader(out))
	switch {
	case failed == nil:
	case ctx.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("it took longer than %v", peersTime)
	case strings.Contains(stderr.String(), "No module named 'torch'"):
		err = fmt.Errorf("%s has no torch", python)
	default:
		err = fmt.Errorf("torchrun: %w: %s", failed, lastLine(stderr.String()))
	}
	return figures, err
}

func commas(sizes []int) string {
	list := make([]string, len(sizes))
	for i, n := range sizes {
		list[i] = strconv.Itoa(n)
	}
	return strings.Join(list, ",")
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
