package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Jobs and answers that are larger than a pipe arrive whole.
func TestLargeJobs(t *testing.T) {
	p, jobs, answers, err := newJobPipes()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	cell := bytes.Repeat([]byte("cell"), 256<<10)
	sent := make(chan error, 1)
	go func() { sent <- p.out.Write(wire.Command{Eval: &wire.Eval{Run: 3}}, cell) }()
	var c wire.Command
	payload, err := frame.NewReader(jobs, wire.MaxPayload).Read(&c)
	if failed := receive(t, "the job is sent", sent); failed != nil || err != nil || c.Eval.Run != 3 || !bytes.Equal(payload, cell) {
		t.Fatalf("sent: %v; received %v, %d bytes, %v", failed, c.Eval, len(payload), err)
	}
	go func() {
		out := frame.NewWriter(answers)
		out.Write(wire.Event{Done: &wire.Done{Run: 3}}, cell)
		out.Write(wire.Event{Recovered: &wire.Recovered{ID: 4}}, nil)
		answers.Close()
	}()
	var got []wire.Event
	var r reader
	ended := make(chan error, 1)
	defer r.close()
	failed := r.add(p, func() bool {
		err := p.take(func(e wire.Event, payload []byte) {
			if e.Done != nil && !bytes.Equal(payload, cell) {
				t.Errorf("%d bytes arrived", len(payload))
			}
			got = append(got, e)
		})
		if err != nil {
			ended <- err
		}
		return err == nil
	})
	if failed != nil {
		t.Fatal(failed)
	}
	if err := receive(t, "the answers end", ended); err != io.EOF {
		t.Error(err)
	}
	if len(got) != 2 || got[0].Done.Run != 3 || got[1].Recovered.ID != 4 {
		t.Errorf("%+v", got)
	}
}

// A job for a worker that has died fails.
func TestJobForTheDead(t *testing.T) {
	p, jobs, answers, err := newJobPipes()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	jobs.Close()
	answers.Close()
	if err := p.out.Write(wire.Command{Recover: &wire.Recovery{}}, nil); !errors.Is(err, syscall.EPIPE) {
		t.Error(err)
	}
	if err := p.take(func(wire.Event, []byte) { t.Error("an answer") }); err != io.EOF {
		t.Error(err)
	}
}

// A worker that does not read a large job fails it, in a time that ends.
func TestJobIsNotRead(t *testing.T) {
	p, jobs, answers, err := newJobPipes()
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	defer jobs.Close()
	defer answers.Close()
	unix.FcntlInt(jobs.Fd(), unix.F_SETPIPE_SZ, 4096)
	if err := p.out.Write(wire.Command{Eval: &wire.Eval{}}, make([]byte, 8192)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}
