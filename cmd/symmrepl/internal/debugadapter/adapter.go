package debugadapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// Adapter answers the requests of one client about one session.
type Adapter struct {
	console  *console.Console
	lab      *Lab                   // nil: the client is an editor
	send     func(dap.EventMessage) // sends an event and does not wait; it may be called from several goroutines
	by       string                 // the client's name for other users of the session
	attached bool                   // the session was there before
	handles  handles

	mu          sync.Mutex // guards the fields below
	debugger    session.Debugger
	stop        *session.Stop // nil while no rank stands
	announced   announced
	frames      map[int]frame // by number
	lastFrame   int
	breakpoints map[breakpointKey]int // numbers of breakpoints
	paths       map[string]string     // of files, by names of cells that are relative paths
	entry       bool                  // the ranks are to stop before the first statement
}

// begin opens the session's debugger, unless it is open.
func (a *Adapter) begin(ctx context.Context) error {
	if a.held() != nil {
		return nil
	}
	d, err := a.console.Session.Debug(ctx, a.event)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.debugger = d
	a.mu.Unlock()
	return nil
}

// end leaves the session's debugger: the ranks go on.
func (a *Adapter) end() error {
	a.mu.Lock()
	d := a.debugger
	a.debugger, a.stop, a.frames, a.breakpoints = nil, nil, nil, nil
	a.mu.Unlock()
	a.handles.renew()
	if d == nil {
		return nil
	}
	return d.Close()
}

// held returns the session's debugger, nil if it is not open.
func (a *Adapter) held() session.Debugger {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.debugger
}

// errNotStarted is the answer to requests that need the debugger before it is open.
var errNotStarted = errors.New("the debugger has not been started")

// open returns the session's debugger.
func (a *Adapter) open() (session.Debugger, error) {
	if d := a.held(); d != nil {
		return d, nil
	}
	return nil, errNotStarted
}

// answer returns the response to a request that both fronts have.
func (a *Adapter) answer(ctx context.Context, m dap.RequestMessage) (dap.ResponseMessage, error) {
	switch r := m.(type) {
	case *dap.ThreadsRequest:
		threads, err := a.threads(ctx)
		return &dap.ThreadsResponse{Body: dap.ThreadsResponseBody{Threads: threads}}, err
	case *dap.StackTraceRequest:
		body, err := a.stackTrace(ctx, r.Arguments)
		return &dap.StackTraceResponse{Body: body}, err
	case *dap.ScopesRequest:
		scopes, err := a.scopes(ctx, r.Arguments.FrameId)
		return &dap.ScopesResponse{Body: dap.ScopesResponseBody{Scopes: scopes}}, err
	case *dap.VariablesRequest:
		list, err := a.variables(ctx, r.Arguments)
		return &dap.VariablesResponse{Body: dap.VariablesResponseBody{Variables: list}}, err
	case *dap.EvaluateRequest:
		text, err := a.evaluate(ctx, r.Arguments)
		return &dap.EvaluateResponse{Body: dap.EvaluateResponseBody{Result: text}}, err
	case *dap.SetBreakpointsRequest:
		list, err := a.setBreakpoints(ctx, r.Arguments)
		return &dap.SetBreakpointsResponse{Body: dap.SetBreakpointsResponseBody{Breakpoints: list}}, err
	case *dap.SetExceptionBreakpointsRequest: // no filters were offered
		return &dap.SetExceptionBreakpointsResponse{}, nil
	case *dap.SourceRequest:
		text, err := a.source(ctx, r.Arguments)
		return &dap.SourceResponse{Body: dap.SourceResponseBody{Content: text, MimeType: "text/x-go"}}, err
	case *dap.LoadedSourcesRequest:
		sources, err := a.sources(ctx)
		return &dap.LoadedSourcesResponse{Body: dap.LoadedSourcesResponseBody{Sources: sources}}, err
	case *dap.ContinueRequest:
		return &dap.ContinueResponse{Body: dap.ContinueResponseBody{AllThreadsContinued: true}}, a.resume(ctx, session.Continue)
	case *dap.NextRequest:
		return &dap.NextResponse{}, a.resume(ctx, session.StepOver)
	case *dap.StepInRequest:
		return &dap.StepInResponse{}, a.resume(ctx, session.StepIn)
	case *dap.StepOutRequest:
		return &dap.StepOutResponse{}, a.resume(ctx, session.StepOut)
	case *dap.PauseRequest:
		d, err := a.open()
		if err == nil {
			err = d.Pause(ctx)
		}
		return &dap.PauseResponse{}, err
	}
	return nil, fmt.Errorf("the request %q is not supported", m.GetRequest().Command)
}

// complete makes a response to a request, or an error if err is one. number is the message's own.
func complete(m dap.RequestMessage, answer dap.ResponseMessage, err error, number int) dap.ResponseMessage {
	if err != nil {
		text := err.Error()
		answer = &dap.ErrorResponse{
			Response: dap.Response{Message: text},
			Body:     dap.ErrorResponseBody{Error: &dap.ErrorMessage{Id: 1, Format: escaped(text), ShowUser: true}},
		}
	}
	r := answer.GetResponse()
	r.ProtocolMessage = dap.ProtocolMessage{Seq: number, Type: "response"}
	r.RequestSeq, r.Command, r.Success = m.GetRequest().Seq, m.GetRequest().Command, err == nil
	return answer
}

// escaped returns a text for ErrorMessage.Format, in which braces name variables.
func escaped(text string) string {
	var out []rune
	for _, r := range text {
		switch r {
		case '{':
			r = '('
		case '}':
			r = ')'
		}
		out = append(out, r)
	}
	return string(out)
}

// variables returns the rows below a scope or a variable.
func (a *Adapter) variables(ctx context.Context, asked dap.VariablesArguments) ([]dap.Variable, error) {
	open, err := a.handles.find(asked.VariablesReference)
	if err != nil {
		return nil, err
	}
	list, err := open(ctx)
	if err != nil {
		return nil, err
	}
	from := min(max(asked.Start, 0), len(list))
	to := len(list)
	if asked.Count > 0 {
		to = min(from+asked.Count, to)
	}
	return list[from:to], nil
}

// resume lets the ranks go on.
func (a *Adapter) resume(ctx context.Context, how session.Resume) error {
	d, err := a.open()
	if err != nil {
		return err
	}
	return d.Resume(ctx, how)
}

// event makes an event of the protocol.
func event(name string) dap.Event {
	return dap.Event{ProtocolMessage: dap.ProtocolMessage{Type: "event"}, Event: name}
}

// threadOf returns the number of a rank's thread. 0 is no thread for clients.
func threadOf(rank int) int { return rank + 1 }

// threads returns a thread for each rank.
func (a *Adapter) threads(ctx context.Context) ([]dap.Thread, error) {
	infos, err := a.console.Session.Ranks(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	stop := a.stop
	a.mu.Unlock()
	threads := []dap.Thread{}
	for _, info := range infos {
		name := fmt.Sprintf("rank %d", info.Rank)
		doing := cmp.Or(info.Doing, info.State)
		if r := rankStop(stop, info.Rank); r != nil {
			doing = cmp.Or(r.Doing, string(r.State))
			if r.State == session.Stands {
				doing = ""
			}
		}
		if doing != "" {
			name += " (" + doing + ")"
		}
		threads = append(threads, dap.Thread{Id: threadOf(info.Rank), Name: name})
	}
	return threads, nil
}

// rankStop returns a rank's state during a stop, nil if it is not known.
func rankStop(stop *session.Stop, rank int) *session.RankStop {
	if stop == nil {
		return nil
	}
	for i := range stop.Ranks {
		if stop.Ranks[i].Rank == rank {
			return &stop.Ranks[i]
		}
	}
	return nil
}
