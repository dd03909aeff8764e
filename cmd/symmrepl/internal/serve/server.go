package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
)

// maxLine is the longest request in bytes.
const maxLine = 64 << 20

// Server is a session and the program that holds it.
type Server struct {
	Console  *console.Console
	Version  string // of this program
	Attached string // the directory of the session, if it outlives this process
	In       io.Reader
	Out      io.Writer
}

// server serves one program.
type server struct {
	Server
	folder string // for files of tensors
	gone   <-chan struct{}

	write sync.Mutex // one line at a time

	mu   sync.Mutex // guards the fields below
	open map[uint64]*work
	last <-chan struct{} // closed when the last entry so far has ended
}

// work is a request that is being served.
type work struct {
	cancel      context.CancelFunc
	interrupted time.Time
	replace     func() // replaces ranks that an interrupt has not stopped; nil if the request is no entry
	again       console.Insistence
	typed       chan line
}

// Run greets the program and serves its requests until it closes its end, or ctx is done. Entries
// that run then are interrupted, and Run does not wait for them: the caller closes the session.
func (c Server) Run(ctx context.Context) error {
	folder, err := userdir.NewShared()
	if err != nil {
		return err
	}
	defer folder.Remove()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{Server: c, folder: folder.Path, gone: ctx.Done(), open: map[uint64]*work{}}
	infos, err := c.Console.Session.Ranks(ctx)
	if err != nil {
		return err
	}
	s.send(greeting{
		Version: c.Version, Protocol: Protocol, Size: c.Console.Size, Folder: folder.Path, Attached: c.Attached,
		Ranks: toRankInfos(infos),
	})
	requests := make(chan request)
	broken := make(chan error, 1)
	go func() { broken <- s.read(ctx, requests) }()
	for {
		select {
		case q := <-requests:
			if done := s.begin(ctx, q); done != nil {
				go done()
			}
		case err := <-broken:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// read passes requests on until the program closes its end.
func (s *server) read(ctx context.Context, requests chan<- request) error {
	lines := jsonlines.NewReader(s.In, maxLine)
	for {
		line, err := lines.Next()
		var q request
		switch {
		case errors.Is(err, jsonlines.ErrTooLong):
			s.refuse(0, "a request has more than %d bytes", maxLine)
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := json.Unmarshal(line, &q); err != nil {
			s.refuse(q.ID, "a request is no line of JSON of protocol %d: %v", Protocol, err)
			continue
		}
		select {
		case requests <- q:
		case <-ctx.Done():
			return nil
		}
	}
}

// refuse answers a line that is no request. The answer has the number that the line has, unless
// there is none, or it belongs to a request whose last answer has not come: then the number is 0.
func (s *server) refuse(id uint64, format string, args ...any) {
	s.mu.Lock()
	if s.open[id] != nil {
		id = 0
	}
	s.mu.Unlock()
	s.send(answer{ID: id, Refused: fmt.Sprintf(format, args...)})
}

// send writes a line. A program that is gone closes the other end, which ends Run.
func (s *server) send(message any) {
	b, err := json.Marshal(message)
	if a, ok := message.(answer); err != nil && ok {
		b, _ = json.Marshal(answer{ID: a.ID, Output: &output{Stream: "note", Text: fmt.Sprintf("an output is left out: %v\n", err)}})
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.Out.Write(append(b, '\n'))
}

// begin begins a request. It returns the work that remains to be done beside later requests, or
// nil.
func (s *server) begin(ctx context.Context, q request) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.open[q.ID]
	switch {
	case q.Cancel || q.Line != nil:
		if w == nil {
			return nil
		}
		if q.Line != nil {
			select {
			case w.typed <- *q.Line:
			default: // nobody has asked
			}
			return nil
		}
		w.interrupt()
		return nil
	case w != nil:
		id := q.ID
		return func() { s.refuse(id, "the request %d has not ended: give each request a number of its own", id) }
	}
	ctx, cancel := context.WithCancel(ctx)
	w = &work{cancel: cancel, typed: make(chan line, 1)}
	s.open[q.ID] = w
	finish := func(a answer) {
		cancel()
		s.mu.Lock()
		delete(s.open, q.ID)
		s.mu.Unlock()
		a.ID = q.ID
		s.send(a)
	}
	if q.Run != nil {
		p := newPrinter(s, q.ID, q.Run)
		w.replace = func() { s.Console.ReplaceBusy(p) }
		before, ended := s.last, make(chan struct{})
		s.last = ended
		return func() {
			defer close(ended)
			if before != nil {
				<-before
			}
			a := s.run(ctx, w, p, q.Run)
			w.again.End()
			finish(a)
		}
	}
	return func() { finish(s.serve(ctx, q)) }
}

// interrupt interrupts a request; again, once the session has named the ranks that do not stop, it
// replaces these.
func (w *work) interrupt() {
	switch {
	case w.interrupted.IsZero():
		w.interrupted = time.Now()
		w.cancel()
	case w.replace != nil && time.Since(w.interrupted) >= session.KillAfter:
		w.again.Insist(w.replace)
	}
}

// run runs an entry.
func (s *server) run(ctx context.Context, w *work, p *printer, q *run) answer {
	r := console.Request{Source: q.Source, Printer: p, Name: q.Name, Line: q.Line, Silent: q.Silent, Stop: q.Stop, Gone: s.gone}
	if q.Stop != "" {
		r.Again = q.Stop + " again"
	} else {
		r.Again = "Ctrl-C again"
	}
	if q.Input {
		r.Input = func(ctx context.Context) (string, error) {
			p.screen.Flush()
			s.send(answer{ID: p.id, Ask: true})
			select {
			case l := <-w.typed:
				if l.End {
					return "", io.EOF
				}
				p.CloseLine()
				return l.Text, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}
	if q.Ranks != nil {
		before := s.Console.Target()
		ranks, err := s.chosen(q.Ranks)
		if err != nil {
			return answer{Refused: err.Error()}
		}
		s.Console.SetTarget(ranks)
		defer s.Console.SetTarget(before)
	}
	outcome := s.Console.Notebook(ctx, r)
	reply := p.end()
	if lost := s.lost(reply.Errors); lost != "" {
		return answer{Lost: lost}
	}
	reply.Quit = outcome == console.Quit
	if outcome == console.Failed && reply.Refused == "" && len(reply.Errors) == 0 {
		reply.Refused = "the entry failed"
	}
	return answer{Reply: reply}
}

// chosen checks a list of ranks.
func (s *server) chosen(ranks []int) ([]int, error) {
	return s.Console.Ranks(session.FormatRanks(ranks))
}

// lost returns the message that the session has ended, if a cell failed for that reason.
func (s *server) lost(errs []failed) string {
	for _, e := range errs {
		if e.Kind == session.KindSystem && e.Cell == 0 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if _, err := s.Console.Session.Ranks(ctx); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

// serve carries out a request that is no entry.
func (s *server) serve(ctx context.Context, q request) (a answer) {
	var err error
	switch {
	case q.Get != nil:
		a, err = s.get(ctx, q.ID, q.Get)
	case q.Put != nil:
		a, err = s.put(ctx, q.Put)
	case q.Ranks:
		var infos []session.RankInfo
		infos, err = s.Console.Session.Ranks(ctx)
		a.Ranks = toRankInfos(infos)
	case q.Restart != nil:
		err = s.Console.Session.Restart(ctx, q.Restart.Ranks, q.Restart.Replay, func(o session.Output) {
			s.send(answer{ID: q.ID, Output: &output{Ranks: o.Ranks, Stream: "note", Text: o.Text}})
		})
		a.Done = true
	case q.Inspect != nil:
		a, err = s.inspect(ctx, q.Inspect)
	case q.Findings:
		found := toFindings(s.Console.Findings(), s.Console.Size)
		a.Findings = &found
	default:
		err = fmt.Errorf("the request asks for nothing that protocol %d has", Protocol)
	}
	if err != nil {
		a = answer{Refused: err.Error()}
		if wrong := new(argumentError); errors.As(err, &wrong) {
			a.Argument = wrong.name
		}
		if _, gone := s.Console.Session.Ranks(context.Background()); gone != nil && !errors.Is(gone, context.Canceled) {
			a = answer{Lost: gone.Error()}
		}
	}
	return a
}

func (s *server) inspect(ctx context.Context, q *inspect) (answer, error) {
	answers, err := s.Console.Session.Inspect(ctx, q.Ranks, session.Query{Topic: session.Topic(q.Topic), Arg: q.Arg})
	if err != nil {
		return answer{}, err
	}
	var list []told
	for _, one := range answers {
		t := told{Rank: one.Rank, Text: one.Text, Variables: one.Variables, Candidates: one.Candidates}
		if one.Err != nil {
			t.Error = &toFailed([]*session.Error{one.Err}, s.Console.Size)[0]
		}
		list = append(list, t)
	}
	return answer{Answers: list}, nil
}

// remove removes files, of which some may be gone.
func remove(files ...string) {
	for _, file := range files {
		os.Remove(file)
	}
}
