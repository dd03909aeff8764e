package script

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// maxLine bounds a line read from a pipe, in bytes.
const maxLine = 16 << 20

// Pipe runs entries read from in as if they were typed, until the end of in or `:quit`. Each is the
// source of a request like r. An entry that fails does not stop the others; Pipe then returns
// Failed at the end.
func Pipe(ctx context.Context, c *console.Console, r console.Request, in io.Reader) (console.Outcome, error) {
	result := console.Done
	run := func(entry string) (quit bool) {
		r.Source = entry
		switch c.Run(ctx, r) {
		case console.Quit:
			return true
		case console.Failed:
			result = console.Failed
		}
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, failed := readLines(ctx, in)
	assembler := c.Assembler()
	for {
		select {
		case <-ctx.Done():
			return result, nil
		case line, more := <-lines:
			if !more {
				switch err := <-failed; {
				case ctx.Err() != nil:
					return result, nil
				case err != nil:
					return console.Failed, fmt.Errorf("standard input: %w", err)
				}
				run(assembler.Pending())
				return result, nil
			}
			if entry, complete := assembler.Add(line, false); complete && run(entry) {
				return result, nil
			}
		}
	}
}

// readLines reads r in a goroutine, so that the caller need not wait for an idle pipe. At the end
// of r it closes lines and sends an error or nil to failed. When ctx is done, the goroutine ends
// after the line that it waits for.
func readLines(ctx context.Context, r io.Reader) (lines <-chan string, failed <-chan error) {
	out, end := make(chan string), make(chan error, 1)
	go func() {
		defer close(out)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine)
		for ctx.Err() == nil && scanner.Scan() {
			select {
			case out <- scanner.Text():
			case <-ctx.Done():
			}
		}
		end <- scanner.Err()
	}()
	return out, end
}
