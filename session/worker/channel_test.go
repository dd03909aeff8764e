package worker

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// Answers that are larger than a pipe arrive whole, and the end of the pipe is an end.
func TestLargeAnswer(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	answer := bytes.Repeat([]byte("cell"), 256<<10)
	sent := make(chan error, 1)
	go func() {
		_, err := (&jobChannel{channel{fd: int(out.Fd())}}).Write(answer)
		sent <- err
		out.Close()
	}()
	got, err := io.ReadAll(&jobChannel{channel{fd: int(in.Fd())}})
	if failed := <-sent; failed != nil || err != nil || !bytes.Equal(got, answer) {
		t.Errorf("sent: %v; received %d bytes, %v", failed, len(got), err)
	}
}
