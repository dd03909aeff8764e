package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// Code that prints to standard output in order has its lines of both streams read in the order in
// which it printed them, beside other code that prints to standard error all the time.
func TestOutputOrder(t *testing.T) {
	const lines = 3000
	for name, others := range map[string]int{"alone": 0, "beside others": 2} {
		t.Run(name, func(t *testing.T) {
			var memory inherit.Memory
			p, ends, err := newPrinted(&memory)
			if err != nil {
				t.Fatal(err)
			}
			defer p.close()
			order := inherit.NewOrder(&memory, int(ends[1].Fd()))
			var want []string
			stop := make(chan struct{})
			var printing sync.WaitGroup
			for range others {
				printing.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							fmt.Fprintln(ends[1], "other")
						}
					}
				})
			}
			printing.Go(func() {
				defer close(stop)
				print := func(stream session.Stream, i int) {
					text := fmt.Sprintln(stream, i)
					want = append(want, text)
					if stream == session.Stdout {
						order.Begin()
						defer order.End()
					}
					ends[stream-1].WriteString(text)
				}
				for i := range lines {
					print(session.Stdout, i)
					for range i % 3 {
						print(session.Stderr, i)
					}
				}
			})
			go func() {
				printing.Wait()
				ends[0].Close()
				ends[1].Close()
			}()
			var text [2]bytes.Buffer // the beginning of a line
			var got []string
			p.pump(func(stream session.Stream, b []byte) {
				text[stream-1].Write(b)
				for bytes.Contains(text[stream-1].Bytes(), []byte("\n")) {
					line, _ := text[stream-1].ReadString('\n')
					if !strings.HasPrefix(line, "other") {
						got = append(got, line)
					}
				}
			})
			printing.Wait()
			if !slices.Equal(got, want) {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				t.Errorf("%d lines, want %d; from line %d on %q, want %q", len(got), len(want), at,
					got[at:min(at+5, len(got))], want[at:min(at+5, len(want))])
			}
		})
	}
}

// While only code prints that does not follow the order, the pipes are read in the order in which
// they came to hold something.
func TestOutputOrderOfOthers(t *testing.T) {
	var memory inherit.Memory
	p, ends, err := newPrinted(&memory)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for _, want := range [][]session.Stream{
		{session.Stdout, session.Stderr}, {session.Stderr, session.Stdout}, {session.Stderr, session.Stdout}, {session.Stdout, session.Stderr},
	} {
		for _, stream := range want {
			fmt.Fprintln(ends[stream-1], "line")
		}
		var got []session.Stream
		p.flush(func(stream session.Stream, _ []byte) { got = append(got, stream) })
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	for _, end := range ends {
		end.Close()
	}
	p.pump(func(stream session.Stream, b []byte) { t.Errorf("%v: %q", stream, b) })
}

// A print does not wait for a standard error that nobody reads any more, or that was redirected.
func TestOutputOrderWithoutReader(t *testing.T) {
	var memory inherit.Memory
	p, ends, err := newPrinted(&memory)
	if err != nil {
		t.Fatal(err)
	}
	defer ends[0].Close()
	defer ends[1].Close()
	order := inherit.NewOrder(&memory, int(ends[1].Fd()))
	elsewhere, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	defer end.Close()
	again, err := unix.Dup(int(ends[1].Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(again)
	redirected := inherit.NewOrder(&memory, again)
	if err := unix.Dup2(int(end.Fd()), again); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(end, "line")
	redirected.Begin()
	fmt.Fprintln(ends[1], "line")
	p.close()
	order.Begin()
}
