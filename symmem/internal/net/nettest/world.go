package nettest

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// Options describe the provider that the suite tests.
type Options struct {
	Config net.Config       // of every rank, except Rank, Size and Dir
	Null   net.NullSettings // on the null network
	Seeds  int              // number of seeds of scenario "seeds"
}

// plan holds the settings that a rank gets at its start.
type plan struct {
	Scenario   string
	Rank, Size int
	Dir        string
	Provider   string
	Interface  string
	TLS        string
	Null       net.NullSettings
	Seeds      int
}

// A request of a rank to the controller.
type request struct {
	Kind string // "gather"; "kill" and "stop", which concern the rank itself; "done", "fail"
	Data []byte
	Stop time.Duration
}

// The files of a rank's connection to the controller.
const (
	readFrom = 3
	writeTo  = 4
)

const planVariable = "SYMMREPL_NETTEST"

// Main runs the tests of a binary, or one rank if Run started the process.
func Main(m *testing.M) {
	if text := os.Getenv(planVariable); text != "" {
		os.Exit(beRank(text))
	}
	os.Exit(m.Run())
}

// member is a rank as seen by the controller.
type member struct {
	rank    int
	cmd     *exec.Cmd
	to      *gob.Encoder
	output  *bytes.Buffer
	gone    bool // killed on request, or done
	waiting []byte
	asks    bool
}

type event struct {
	rank int
	req  request
	err  error
}

// Scenario runs one scenario with n ranks, and fails the test if one fails.
func (o Options) Scenario(t *testing.T, name string, n int) {
	t.Helper()
	members := make([]*member, n)
	events := make(chan event)
	dir := t.TempDir()
	var readers sync.WaitGroup
	for r := range n {
		m, from := o.start(t, plan{
			Scenario: name, Rank: r, Size: n, Dir: dir, Provider: o.Config.Provider, Interface: o.Config.Interface,
			TLS: o.Config.TLS, Null: o.Null, Seeds: o.Seeds,
		})
		members[r] = m
		readers.Go(func() {
			for {
				var q request
				err := from.Decode(&q)
				events <- event{r, q, err}
				if err != nil {
					return
				}
			}
		})
	}
	stopped := make(chan struct{})
	go func() {
		readers.Wait()
		close(stopped)
	}()
	most := 90*time.Second + time.Duration(o.Seeds)*time.Second
	limit := time.After(most)
	for running := true; running; {
		select {
		case e := <-events:
			serve(t, members, e)
		case <-limit:
			t.Errorf("scenario %s: not over after %v", name, most)
			for _, m := range members {
				m.cmd.Process.Signal(syscall.SIGQUIT)
			}
			limit = nil
		case <-stopped:
			running = false
		}
	}
	for _, m := range members {
		m.cmd.Wait()
		if (t.Failed() || name == "perf") && m.output.Len() > 0 {
			t.Logf("rank %d said:\n%s", m.rank, m.output)
		}
	}
	if left, err := os.ReadDir(dir); err == nil && name == "leaks" && len(left) > 0 {
		t.Errorf("%d files are left, such as %s", len(left), left[0].Name())
	}
}

func (o Options) start(t *testing.T, p plan) (*member, *gob.Decoder) {
	t.Helper()
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(p); err != nil {
		t.Fatal(err)
	}
	childReads, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, childWrites, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m := &member{rank: p.Rank, cmd: exec.Command(os.Args[0]), to: gob.NewEncoder(write), output: &bytes.Buffer{}}
	m.cmd.Env = append(os.Environ(), planVariable+"="+strconv.Quote(text.String()))
	m.cmd.ExtraFiles = []*os.File{childReads, childWrites}
	m.cmd.Stdout, m.cmd.Stderr = m.output, m.output
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	childReads.Close()
	childWrites.Close()
	t.Cleanup(func() {
		m.cmd.Process.Kill()
		read.Close()
		write.Close()
	})
	return m, gob.NewDecoder(read)
}

// lastWords is the time for which other ranks may still report failures after the first one.
const lastWords = 2 * time.Second

// giveUp ends all ranks, which would otherwise wait for the failed one.
func giveUp(members []*member) {
	for _, m := range members {
		m.gone = true
		time.AfterFunc(lastWords, func() { m.cmd.Process.Kill() })
	}
}

// serve answers one request.
func serve(t *testing.T, members []*member, e event) {
	m := members[e.rank]
	if e.err != nil {
		if !m.gone {
			t.Errorf("rank %d ended: %v", e.rank, e.err)
			giveUp(members)
		}
	} else {
		switch e.req.Kind {
		case "gather":
			m.waiting, m.asks = e.req.Data, true
		case "kill":
			m.gone = true
			m.cmd.Process.Kill()
		case "stop":
			m.cmd.Process.Signal(syscall.SIGSTOP)
			time.AfterFunc(e.req.Stop, func() { m.cmd.Process.Signal(syscall.SIGCONT) })
		case "fail":
			t.Errorf("rank %d: %s", e.rank, e.req.Data)
			giveUp(members)
		case "done":
			m.gone = true
		}
	}
	for _, m := range members {
		if !m.gone && !m.asks {
			return
		}
	}
	all := make([][]byte, len(members))
	for i, m := range members {
		if m.asks {
			all[i] = m.waiting
		}
	}
	for _, m := range members {
		if m.asks && !m.gone {
			m.to.Encode(all) // if a rank has died meanwhile, its reader notices
		}
		m.asks = false
	}
}

// beRank runs a scenario in this process and returns its exit status.
func beRank(quoted string) (status int) {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	r := &Rank{from: gob.NewDecoder(os.NewFile(readFrom, "controller")), to: gob.NewEncoder(os.NewFile(writeTo, "controller"))}
	if err := gob.NewDecoder(bytes.NewReader([]byte(text))).Decode(&r.plan); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	syscall.CloseOnExec(readFrom)
	syscall.CloseOnExec(writeTo)
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			r.to.Encode(request{Kind: "fail", Data: []byte(f)})
			status = 1
		}
	}()
	scenarios[r.Scenario](r)
	r.to.Encode(request{Kind: "done"})
	return 0
}
