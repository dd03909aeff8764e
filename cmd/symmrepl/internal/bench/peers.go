package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// peersTime bounds a program that measures Python libraries.
const peersTime = 3 * time.Minute

// runPeers runs a program of Python, for which it makes a file in folder, and returns the program's
// output even if there is an error.
func runPeers(ctx context.Context, folder, program string, args ...string) (string, error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return "", fmt.Errorf("there is no python3 on PATH")
	}
	script := filepath.Join(folder, "peers.py")
	if err := os.WriteFile(script, []byte(program), 0o600); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "measuring the Python libraries, for %v at most\n", peersTime)
	ctx, cancel := context.WithTimeout(ctx, peersTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{script}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", python, err, strings.TrimSpace(stderr.String()))
	}
	return string(said), err
}

// pythonDevice is the device's name in the libraries.
func pythonDevice(cuda bool) string {
	if cuda {
		return "cuda"
	}
	return "cpu"
}
