package debugadapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

const (
	hashSeed = 0xc70f6907 // of murmur2, for the paths of cells
	suffix   = ".go"      // of these paths
	maxCells = 4096       // cells whose text is kept; the oldest are forgotten
)

// Lab answers the debug requests of JupyterLab for one kernel. JupyterLab names the code of a cell
// by a path that both sides make from a hash of the text; there is no such file.
type Lab struct {
	prefix string // of the paths
	send   func(dap.EventMessage)

	serial sync.Mutex // held while a request is answered
	number int        // of the latest response

	mu          sync.Mutex // guards the fields below
	adapter     *Adapter   // nil until the session is there
	started     bool
	texts       map[string]string // of cells, by path
	order       []string          // paths in texts, oldest first
	names       map[string]string // paths by the names of cells
	breakpoints map[string][]int  // lines by path
}

// NewLab returns a Lab. send publishes an event to all front ends and does not wait; it may be
// called from several goroutines.
func NewLab(send func(dap.EventMessage)) *Lab {
	// JupyterLab shows the numbers of cells in place of their paths where the paths have "ipykernel_".
	folder := fmt.Sprintf("symmrepl_ipykernel_%d", os.Getpid())
	return &Lab{
		prefix: filepath.Join(os.TempDir(), folder) + string(filepath.Separator),
		send:   send, texts: map[string]string{}, names: map[string]string{}, breakpoints: map[string][]int{},
	}
}

// Requests of JupyterLab, see
// https://jupyter-client.readthedocs.io/en/stable/messaging.html#additions-to-the-dap.
type (
	debugInfoRequest        struct{ dap.Request }
	inspectVariablesRequest struct{ dap.Request }
	dumpCellRequest         struct {
		dap.Request
		Arguments struct {
			Code string `json:"code"`
		} `json:"arguments"`
	}
	richInspectVariablesRequest struct {
		dap.Request
		Arguments richVariable `json:"arguments"`
	}
	richVariable struct {
		Name  string `json:"variableName"`
		Frame int    `json:"frameId"`
	}
)

// response is a response with a body of any form.
type response struct {
	dap.Response
	Body any `json:"body,omitempty"`
}

// body is the body of a response.
type body = map[string]any

// labRequests decodes requests of JupyterLab.
var labRequests = func() *dap.Codec {
	c := dap.NewCodec()
	for command, make := range map[string]func() dap.Message{
		"debugInfo":            func() dap.Message { return &debugInfoRequest{} },
		"inspectVariables":     func() dap.Message { return &inspectVariablesRequest{} },
		"richInspectVariables": func() dap.Message { return &richInspectVariablesRequest{} },
		"dumpCell":             func() dap.Message { return &dumpCellRequest{} },
	} {
		if err := c.RegisterRequest(command, make, func() dap.Message { return &response{} }); err != nil {
			panic(err)
		}
	}
	return c
}()

// Answer returns the reply to the content of a debug_request. await waits for the session and
// returns a console on it, which may be another one than before.
func (l *Lab) Answer(ctx context.Context, content json.RawMessage, await func(context.Context) (*console.Console, error)) any {
	l.serial.Lock()
	defer l.serial.Unlock()
	l.number++
	message, err := labRequests.DecodeMessage(content)
	m, ok := message.(dap.RequestMessage)
	if !ok {
		m = &dap.Request{ProtocolMessage: dap.ProtocolMessage{Type: "request"}}
		if unknown := new(dap.DecodeProtocolMessageFieldError); errors.As(err, &unknown) && unknown.SubType == "Request" {
			m = &dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: unknown.Seq, Type: "request"}, Command: unknown.FieldValue}
			err = fmt.Errorf("the request %q is not supported", unknown.FieldValue)
		}
	}
	var answer dap.ResponseMessage = &response{}
	if err == nil {
		answer, err = l.answer(ctx, m, await)
	}
	return complete(m, answer, err, l.number)
}

// answer answers a request.
func (l *Lab) answer(ctx context.Context, m dap.RequestMessage,
	await func(context.Context) (*console.Console, error)) (dap.ResponseMessage, error) {
	switch r := m.(type) {
	case *debugInfoRequest: // front ends ask while the session starts
		return &response{Body: l.info()}, nil
	case *dumpCellRequest:
		return &response{Body: body{"sourcePath": l.keep(r.Arguments.Code)}}, nil
	}
	c, err := await(ctx)
	if err != nil {
		return nil, err
	}
	a, err := l.on(ctx, c)
	if err != nil {
		return nil, err
	}
	switch r := m.(type) {
	case *inspectVariablesRequest:
		a.handles.renew()
		rows, err := a.sessionRows(ctx)
		return &response{Body: body{"variables": a.toDAP(rows)}}, err
	case *richInspectVariablesRequest:
		found, err := a.rich(ctx, r.Arguments)
		return &response{Body: found}, err
	case *dap.InitializeRequest:
		if err := a.begin(ctx); err != nil {
			return nil, err
		}
		l.setStarted(true)
		return &response{Body: body{"supportsConfigurationDoneRequest": true, "exceptionBreakpointFilters": []any{}}}, nil
	case *dap.AttachRequest:
		_, err := a.open()
		if err == nil {
			l.send(&dap.InitializedEvent{Event: event("initialized")})
		}
		return &dap.AttachResponse{}, err
	case *dap.ConfigurationDoneRequest:
		return &dap.ConfigurationDoneResponse{}, nil
	case *dap.DisconnectRequest:
		l.setStarted(false)
		return &dap.DisconnectResponse{}, a.end()
	case *dap.SetBreakpointsRequest:
		list, err := a.setBreakpoints(ctx, r.Arguments)
		if err == nil {
			l.note(r.Arguments.Source.Path, list)
		}
		return &dap.SetBreakpointsResponse{Body: dap.SetBreakpointsResponseBody{Breakpoints: list}}, err
	}
	return a.answer(ctx, m)
}

// on returns the adapter for a session. If the session is another one than before, the debugger goes
// on there, with the same breakpoints.
func (l *Lab) on(ctx context.Context, c *console.Console) (*Adapter, error) {
	l.mu.Lock()
	before, started := l.adapter, l.started
	if before != nil && before.console == c {
		l.mu.Unlock()
		return before, nil
	}
	a := &Adapter{console: c, lab: l, send: l.send}
	l.adapter = a
	lines := maps.Clone(l.breakpoints)
	l.mu.Unlock()
	if before != nil {
		before.end() // its session has ended
	}
	if !started {
		return a, nil
	}
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	for path, lines := range lines {
		if _, err := a.setBreakpoints(ctx, dap.SetBreakpointsArguments{Source: dap.Source{Path: path}, Lines: lines}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Reopen moves the debugger to another session, if it has been started, before cells run there.
func (l *Lab) Reopen(ctx context.Context, c *console.Console) error {
	l.mu.Lock()
	started := l.started
	l.mu.Unlock()
	if !started {
		return nil
	}
	_, err := l.on(ctx, c)
	return err
}

// Close leaves the debugger.
func (l *Lab) Close() error {
	l.setStarted(false)
	l.mu.Lock()
	a := l.adapter
	l.mu.Unlock()
	if a == nil {
		return nil
	}
	return a.end()
}

func (l *Lab) setStarted(started bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = started
	if !started {
		l.breakpoints = map[string][]int{}
	}
}

// note keeps the breakpoints of a cell.
func (l *Lab) note(path string, list []dap.Breakpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.breakpoints, path)
	for _, b := range list {
		l.breakpoints[path] = append(l.breakpoints[path], b.Line)
	}
}

// info is the body of the reply to debugInfo.
func (l *Lab) info() body {
	l.mu.Lock()
	a := l.adapter
	breakpoints := []body{}
	for _, path := range slices.Sorted(maps.Keys(l.breakpoints)) {
		lines := []body{}
		for _, n := range l.breakpoints[path] {
			lines = append(lines, body{"line": n})
		}
		breakpoints = append(breakpoints, body{"source": path, "breakpoints": lines})
	}
	out := body{
		"isStarted": l.started, "hashMethod": "Murmur2", "hashSeed": hashSeed, "tmpFilePrefix": l.prefix, "tmpFileSuffix": suffix,
		"breakpoints": breakpoints, "richRendering": true, "exceptionPaths": []string{}, "copyToGlobals": false,
	}
	l.mu.Unlock()
	threads := []int{}
	if a != nil {
		for _, rank := range a.standing() {
			threads = append(threads, threadOf(rank))
		}
	}
	out["stoppedThreads"] = threads
	return out
}

// Entered notes the name, such as "In[3]", under which the text of a notebook's cell is entered.
func (l *Lab) Entered(name, text string) {
	path := l.keep(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[name] = path
}

// keep keeps the text of a cell and returns its path.
func (l *Lab) keep(text string) string {
	path := l.prefix + strconv.FormatUint(uint64(murmur2([]byte(text), hashSeed)), 10) + suffix
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.texts[path]; !known {
		l.order = append(l.order, path)
	}
	l.texts[path] = text
	if len(l.order) > maxCells {
		oldest := l.order[0]
		l.order = l.order[1:]
		delete(l.texts, oldest)
		maps.DeleteFunc(l.names, func(_, path string) bool { return path == oldest })
	}
	return path
}

// text returns the text of the cell with a path.
func (l *Lab) text(path string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, ok := l.texts[path]
	if !ok {
		return "", fmt.Errorf("no cell with the path %s is known: it was changed, or belongs to another kernel", path)
	}
	return text, nil
}

// cellPath begins the name in the path of a cell that was not entered in a notebook.
const cellPath = "cell-"

// sourceOf returns the source that a place is in.
func (l *Lab) sourceOf(p session.Place) *dap.Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path, ok := l.names[p.Name]; ok {
		return &dap.Source{Name: p.Name, Path: path}
	}
	return &dap.Source{Name: p.Name, Path: l.prefix + cellPath + strconv.Itoa(p.Cell) + suffix}
}

// cellOf returns the number of the cell with a path that sourceOf has made for it, 0 if there is
// none.
func (l *Lab) cellOf(path string) int {
	rest, _ := strings.CutPrefix(path, l.prefix+cellPath)
	number, _ := strconv.Atoi(strings.TrimSuffix(rest, suffix))
	return number
}

// murmur2 is the 32-bit MurmurHash2 of data, by which JupyterLab names the code of cells.
func murmur2(data []byte, seed uint32) uint32 {
	const m = 0x5bd1e995
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	if len(data) > 0 {
		for i := len(data) - 1; i >= 0; i-- {
			h ^= uint32(data[i]) << (8 * i)
		}
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}

// isName reports whether a text can be the name of a variable.
func isName(text string) bool { return token.IsIdentifier(text) && text != "_" }
