package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/finding"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem/foreign"
)

// maxLine is the longest request in bytes.
const maxLine = 16 << 20

// maxOpen is the number of requests that are served at the same time; the next ones are read when
// one of them has ended.
const maxOpen = 8

// request is a line of the program. Besides ID and Watched exactly one field is set.
type request struct {
	ID        uint64            `json:"id"`
	Emulator  bool              `json:"emulator"`
	Operation string            `json:"operation"`
	Kernels   *foreign.Text     `json:"kernels"`
	Layouts   bool              `json:"layouts"`
	Shadow    bool              `json:"shadow"`
	Findings  []json.RawMessage `json:"findings"`
	Watch     *Program          `json:"watch"`
	Watched   bool              `json:"watched"`
}

// Program is the program whose ranks are to be watched: its name in messages, their number, and
// session.DeadlockEnd or DeadlockWait.
type Program struct {
	Name     string `json:"name"`
	Ranks    int    `json:"ranks"`
	Deadlock string `json:"deadlock"`
}

type answer struct {
	ID          uint64                    `json:"id"`
	Library     string                    `json:"library,omitempty"`
	Kernels     []foreign.Kernel          `json:"kernels,omitempty"`
	Layouts     map[string]foreign.Layout `json:"layouts,omitempty"`
	Shadow      string                    `json:"shadow,omitempty"`
	Findings    []session.Finding         `json:"findings,omitzero"`
	Socket      string                    `json:"socket,omitempty"`
	Version     string                    `json:"version,omitempty"` // of the program, in the first line alone
	Error       string                    `json:"error,omitempty"`
	Diagnostics []foreign.Diagnostic      `json:"diagnostics,omitempty"`
}

// server serves one program.
type server struct {
	libraries foreign.Libraries
	watch     func(Program) (string, error)
	mu        sync.Mutex // guards out: one line at a time
	out       io.Writer
}

// Serve writes the version of the program, and answers the requests on in until its end, or until ctx is
// done. watch begins to watch a program, and returns the socket to which its ranks connect.
func Serve(ctx context.Context, version string, in io.Reader, out io.Writer, watch func(Program) (socket string, err error)) error {
	s := &server{out: out, watch: watch}
	s.send(answer{Version: version})
	defer s.libraries.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.read(in) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// read serves requests until the end of in, and waits for those that it has begun.
func (s *server) read(in io.Reader) error {
	var begun sync.WaitGroup
	defer begun.Wait()
	free := make(chan struct{}, maxOpen)
	lines := jsonlines.NewReader(in, maxLine)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, jsonlines.ErrTooLong):
			s.send(answer{Error: fmt.Sprintf("a request has more than %d bytes", maxLine)})
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			s.send(answer{ID: q.ID, Error: "a request is no line of JSON as package companion describes it: " + err.Error()})
			continue
		}
		free <- struct{}{}
		begun.Go(func() {
			defer func() { <-free }()
			a, err := s.serve(q)
			if err != nil {
				a = answer{Error: err.Error(), Diagnostics: foreign.Diagnostics(err)}
			}
			a.ID = q.ID
			s.send(a)
		})
	}
}

func (s *server) serve(q request) (a answer, err error) {
	switch {
	case q.Emulator:
		a.Library, err = s.libraries.Emulator()
	case q.Operation != "":
		a.Library, err = s.libraries.Operation(q.Operation, q.Watched)
	case q.Kernels != nil:
		a.Library, a.Kernels, err = s.libraries.Kernels(*q.Kernels, q.Watched)
	case q.Layouts:
		a.Layouts = foreign.Layouts()
	case q.Shadow:
		a.Shadow, _, err = foreign.Shadow()
	case q.Findings != nil:
		a.Findings, err = findings(q.Findings)
	case q.Watch != nil:
		a.Socket, err = s.watch(*q.Watch)
	default:
		err = errors.New("a request asks for nothing: emulator, operation, kernels, layouts, shadow, findings or watch")
	}
	return a, err
}

// findings returns the findings of the reports of all ranks.
func findings(reports []json.RawMessage) ([]session.Finding, error) {
	var p finding.Program
	for _, r := range reports {
		if err := p.Add(r); err != nil {
			return nil, err
		}
	}
	return append([]session.Finding{}, p.Findings()...), nil
}

// send writes a line. A program that is gone closes its end, too, which ends read.
func (s *server) send(a answer) {
	line, err := json.Marshal(a)
	if err != nil {
		line = fmt.Appendf(nil, `{"id":%d,"error":%q}`, a.ID, err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Write(append(line, '\n'))
}
