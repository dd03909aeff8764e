package debugadapter

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/clients"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

const maxWork = 16 // requests of one client that are answered at the same time

// Server serves editors, each by a connection of its own.
type Server struct {
	// Launch starts a session, with a program that Target.Run runs.
	Launch func(ctx context.Context, program Launch) (*Target, error)
	// Attach attaches to the running session of a folder; "" is the only one.
	Attach func(ctx context.Context, dir string) (*Target, error)
	// Token, unless empty, is the token that a client has to give before it is served.
	Token string
}

// Launch holds the arguments of a client's request to launch a program.
type Launch struct {
	Program     string   `json:"program"`     // a file of cells, or a file or a folder of package main
	Args        []string `json:"args"`        // of the program
	Folder      string   `json:"cwd"`         // of the ranks; "": that of this process
	Ranks       int      `json:"ranks"`       // 0: the default
	Device      string   `json:"device"`      // "": the default
	Backend     string   `json:"backend"`     // "": the default
	Hosts       string   `json:"hosts"`       // simulated hosts; "": one
	StopOnEntry bool     `json:"stopOnEntry"` // stop before the first statement
	NoDebug     bool     `json:"noDebug"`     // run only
	Token       string   `json:"token"`       // of Server.Token
}

// attachment holds the arguments of a client's request to attach to a session.
type attachment struct {
	Session string `json:"session"` // its folder; "": the only session
	Token   string `json:"token"`
}

// Target is a session that a client uses.
type Target struct {
	Console *console.Console
	// Run runs the launched program and returns its exit status; nil if the client has attached.
	Run   func(ctx context.Context, p console.Printer) int
	Close func() error
}

// Serve serves one client until it disconnects or closes its end, or ctx is done. A session that
// the client has launched ends then; the ranks of one that it has attached to go on. out is closed
// only if it is an io.Closer and the client does not read the messages.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	c := &client{Server: s, out: newOutbox(out, cancel), ready: make(chan struct{}), work: make(chan struct{}, maxWork)}
	defer func() {
		cancel()
		c.running.Wait()
		c.leave()
		c.out.close()
	}()
	requests, failed := make(chan dap.RequestMessage), make(chan error, 1)
	go func() {
		failed <- c.read(ctx, in, requests)
		cancel()
	}()
	for {
		select {
		case r := <-requests:
			if c.handle(ctx, r) {
				return nil
			}
		case <-ctx.Done():
			select {
			case err := <-failed:
				return err
			default:
				return nil
			}
		}
	}
}

// client is one client.
type client struct {
	Server
	out     *outbox
	work    chan struct{}  // bounds running
	running sync.WaitGroup // requests that are being answered, and the program
	by      string         // the client's name for other users of the session

	adapter *Adapter // nil until the client has launched or attached
	target  *Target
	launch  Launch
	stop    context.CancelFunc // ends the program
	ready   chan struct{}      // closed when the client has set its breakpoints
	begun   bool
}

// read reads requests until the end of in. Messages that are no requests are dropped; requests that
// are unknown or malformed are answered.
func (c *client) read(ctx context.Context, in io.Reader, requests chan<- dap.RequestMessage) error {
	messages := newMessages(in)
	for {
		content, err := messages.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		m, err := dap.DecodeProtocolMessage(content)
		r, ok := m.(dap.RequestMessage)
		if err != nil {
			c.refuse(content, err)
			continue
		}
		if !ok {
			continue
		}
		select {
		case requests <- r:
		case <-ctx.Done():
			return nil
		}
	}
}

// refuse answers a request that cannot be decoded, if it is one.
func (c *client) refuse(content []byte, err error) {
	var r dap.Request
	if json.Unmarshal(content, &r) != nil && r.Command == "" || r.Type != "request" {
		return
	}
	if unknown := new(dap.DecodeProtocolMessageFieldError); errors.As(err, &unknown) {
		err = fmt.Errorf("the request %q is not supported", r.Command)
	}
	c.out.respond(&r, nil, err)
}

// handle answers a request, and reports whether it ends the connection.
func (c *client) handle(ctx context.Context, m dap.RequestMessage) (over bool) {
	switch r := m.(type) {
	case *dap.InitializeRequest:
		c.by = clientName(r.Arguments.ClientName)
		answer := &dap.InitializeResponse{Body: dap.Capabilities{
			SupportsConfigurationDoneRequest: true, SupportsEvaluateForHovers: true, SupportsTerminateRequest: true,
			SupportsDelayedStackTraceLoading: true, SupportsLoadedSourcesRequest: true, SupportTerminateDebuggee: true,
		}}
		var err error
		if !r.Arguments.LinesStartAt1 && stated(r.Arguments) {
			err = errors.New("lines that start at 0 are not supported: set linesStartAt1")
		}
		c.out.respond(m, answer, err)
	case *dap.LaunchRequest:
		err := c.begin(ctx, r.Arguments, true)
		c.out.respond(m, &dap.LaunchResponse{}, err)
		c.announce(err)
	case *dap.AttachRequest:
		err := c.begin(ctx, r.Arguments, false)
		c.out.respond(m, &dap.AttachResponse{}, err)
		c.announce(err)
	case *dap.ConfigurationDoneRequest:
		c.out.respond(m, &dap.ConfigurationDoneResponse{}, c.configured(ctx))
	case *dap.DisconnectRequest:
		if c.target != nil && c.target.Run == nil && r.Arguments != nil && r.Arguments.TerminateDebuggee {
			_, err := c.target.Console.Session.Interrupt(ctx)
			c.out.respond(m, &dap.DisconnectResponse{}, err)
		} else {
			c.out.respond(m, &dap.DisconnectResponse{}, nil)
		}
		return true
	case *dap.TerminateRequest:
		c.out.respond(m, &dap.TerminateResponse{}, c.terminate(ctx))
	case *dap.CancelRequest:
		c.out.respond(m, &dap.CancelResponse{}, nil) // what it names may be done before
	default:
		c.answer(ctx, m)
	}
	return false
}

// stated reports whether a client has said anything about itself. One that says nothing counts lines
// from 1, as the protocol has it by default.
func stated(a dap.InitializeRequestArguments) bool { return a.PathFormat != "" || a.ColumnsStartAt1 }

// answer answers a request about the session. Those that may take long are answered beside others.
func (c *client) answer(ctx context.Context, m dap.RequestMessage) {
	a := c.adapter
	if a == nil {
		c.out.respond(m, nil, errors.New("launch a program or attach to a session first"))
		return
	}
	answer := func() {
		response, err := a.answer(ctx, m)
		c.out.respond(m, response, err)
	}
	switch m.(type) {
	case *dap.EvaluateRequest, *dap.VariablesRequest:
	default:
		answer()
		return
	}
	select {
	case c.work <- struct{}{}:
	case <-ctx.Done():
		return
	}
	c.running.Go(func() {
		defer func() { <-c.work }()
		answer()
	})
}

// begin launches a program or attaches to a session, as a client's arguments say.
func (c *client) begin(ctx context.Context, arguments json.RawMessage, launch bool) error {
	if c.adapter != nil {
		return errors.New("this client uses a session already: a connection is for one")
	}
	var to attachment
	var asked any = &to
	if launch {
		asked = &c.launch
	}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, asked); err != nil {
			return fmt.Errorf("the arguments cannot be read: %w", err)
		}
	}
	token := to.Token
	if launch {
		token = c.launch.Token
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(c.Token)) != 1 && c.Token != "" {
		return errors.New("the token is wrong: give the one of SYMMREPL_TOKEN as \"token\"")
	}
	var t *Target
	var err error
	if launch {
		if c.launch.Program == "" {
			return errors.New("\"program\" is missing: the file to run")
		}
		if c.launch.Folder != "" && !filepath.IsAbs(c.launch.Program) {
			c.launch.Program = filepath.Join(c.launch.Folder, c.launch.Program)
		}
		t, err = c.Launch(ctx, c.launch)
	} else {
		t, err = c.Attach(ctx, to.Session)
	}
	if err != nil {
		return err
	}
	a := &Adapter{console: t.Console, send: c.out.event, by: c.by, attached: !launch}
	if a.by == "" {
		a.by = clientName("")
	}
	if !c.launch.NoDebug {
		if err := a.begin(ctx); err != nil {
			return errors.Join(err, t.Close())
		}
	}
	c.adapter, c.target = a, t
	return nil
}

// announce asks the client for its breakpoints, unless begin has failed.
func (c *client) announce(failed error) {
	if failed == nil {
		c.out.event(&dap.InitializedEvent{Event: event("initialized")})
	}
}

// configured begins the launched program.
func (c *client) configured(ctx context.Context) error {
	switch {
	case c.target == nil:
		return errors.New("launch a program or attach to a session first")
	case c.begun || c.target.Run == nil:
		return nil
	}
	c.begun = true
	entry := c.launch.StopOnEntry && !c.launch.NoDebug
	if entry {
		if err := c.adapter.stopOnEntry(ctx); err != nil {
			return err
		}
	}
	ctx, c.stop = context.WithCancel(ctx)
	c.running.Go(func() {
		if c.launch.Folder != "" {
			reply := c.target.Console.Session.Eval(ctx, session.Cell{Folder: c.launch.Folder, Silent: true})
			for _, e := range reply.Errors {
				c.out.text("stderr", e.Error()+"\n")
			}
		}
		status := c.target.Run(ctx, c.out.printer(c.target.Console.Size))
		c.out.event(&dap.ExitedEvent{Event: event("exited"), Body: dap.ExitedEventBody{ExitCode: status}})
		c.out.event(&dap.TerminatedEvent{Event: event("terminated")})
	})
	return nil
}

// terminate interrupts the program, or the cell that runs in a session to which the client is
// attached.
func (c *client) terminate(ctx context.Context) error {
	switch {
	case c.target == nil:
		return errors.New("launch a program or attach to a session first")
	case c.stop != nil:
		c.stop()
		return nil
	}
	_, err := c.target.Console.Session.Interrupt(ctx)
	if err == nil && c.target.Run == nil {
		c.out.event(&dap.TerminatedEvent{Event: event("terminated")})
	}
	return err
}

// leave leaves the session.
func (c *client) leave() {
	if c.adapter == nil {
		return
	}
	c.adapter.end()
	c.target.Close()
}

// clientName returns the name of a client for users.
func clientName(given string) string {
	return cmp.Or(clients.Name(given), "an editor") + " (dap)"
}
