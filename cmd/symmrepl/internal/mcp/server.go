package mcp

import (
	"cmp"
	"context"
	"io"
	"net"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/clients"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

const maxRequest = 4 << 20 // bytes of one message of a client

// Server serves clients on a session.
type Server struct {
	Version  string
	ReadOnly bool // clients can look, and run nothing
	// Console makes a console on the session, for one client.
	Console func() *console.Console
	// Bench measures operations (none: all) of some sizes (none: a few) in the session, and writes a
	// line of JSON for each figure.
	Bench func(ctx context.Context, ops []string, sizes []int, dtype string, out io.Writer) error
}

// Serve serves one client on a connection until it closes its end or ctx is done. Cells that run
// then are interrupted.
func (s Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	messages := newMessages(in, out)
	calls := newArrivals(&sdk.IOTransport{Reader: messages, Writer: messages.out, MaxLineLength: -1}) // messages bounds lines
	server, err := s.client(ctx, calls)
	if err != nil {
		return err
	}
	return server.Run(ctx, calls)
}

// Listen serves each process of this user that connects to a Unix socket, until ctx is done. It
// calls ready once it listens, and removes the socket at the end.
func (s Server) Listen(ctx context.Context, path string, ready func()) error {
	return clients.Listen(ctx, path, ready, func(conn net.Conn) { s.Serve(ctx, conn, conn) })
}

// client is one client and its view of the session.
type client struct {
	Server
	console *console.Console
	over    context.Context // ends with the connection
	calls   *arrivals       // the console runs one entry at a time, in this order
	current current
}

const instructions = `A session of symmrepl drives N ranks (GPUs, or emulated devices) in lockstep: a cell of Go runs on all of them. ` +
	`Cells have symm.* for symmetric memory, signals, collectives and CUDA kernels (symm.Compile); ` +
	`no package clause or main is needed, and variables live on. ` +
	`Errors and findings have positions in the cell. Run kernels by the tool sanitize before you trust them. ` +
	`The tool documentation finds functions; resources have lessons and the headers of kernels.`

// client returns the SDK's server for one client.
func (s Server) client(ctx context.Context, calls *arrivals) (*sdk.Server, error) {
	c := &client{Server: s, console: s.Console(), over: ctx, calls: calls}
	c.console.Borrows = true
	self := &sdk.Implementation{Name: "symmrepl", Title: "symmrepl", Version: s.Version}
	server := sdk.NewServer(self, &sdk.ServerOptions{Instructions: instructions})
	server.AddReceivingMiddleware(calls.handle, sendable)
	looking := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	sdk.AddTool(server, &sdk.Tool{Name: "state", Annotations: looking,
		Description: "The state of all ranks: processes, variables (and which differ between ranks), streams, groups, signals, waits. It " +
			"may be asked while a cell runs. With tensor it also calculates the statistics of a tensor on each rank."}, c.state)
	sdk.AddTool(server, &sdk.Tool{Name: "hang", Annotations: looking,
		Description: "What every rank does or waits for now, and the session's table of waits of the cell that runs. Ask while a call of " +
			"run does not return."}, c.hang)
	sdk.AddTool(server, &sdk.Tool{Name: "documentation", Annotations: looking,
		Description: "The declaration and the text of a name that cells or kernels use, such as symm.AllReduce or symm::wait, and lines " +
			"of lessons and headers that contain all words of the query."}, c.documentation)
	if err := c.addResources(server); err != nil || s.ReadOnly {
		return server, err
	}
	running := &sdk.ToolAnnotations{OpenWorldHint: new(bool)}
	sdk.AddTool(server, &sdk.Tool{Name: "run", Annotations: running,
		Description: "Run a cell of Go on all ranks, or on some. The answer has output and values by rank, and errors with positions."}, c.run)
	sdk.AddTool(server, &sdk.Tool{Name: "sanitize", Annotations: running,
		Description: "Run a cell in several orders of threads, blocks and ranks while every access of kernels is watched: the findings " +
			"are accesses out of bounds, races and orders that are too weak, with positions and what to change."}, c.sanitize)
	sdk.AddTool(server, &sdk.Tool{Name: "trace", Annotations: running,
		Description: "Run a cell and sum up its operations by rank: how often, how long, and how much of that they waited for other ranks."}, c.trace)
	sdk.AddTool(server, &sdk.Tool{Name: "diff", Annotations: running,
		Description: "How a tensor differs between ranks, or two tensors of the same rank from each other: how many elements, by how much " +
			"at most, and the first of them."}, c.diff)
	sdk.AddTool(server, &sdk.Tool{Name: "interrupt", Annotations: running,
		Description: "Interrupt the cell that this client runs by another call."}, c.interrupt)
	sdk.AddTool(server, &sdk.Tool{Name: "bench", Annotations: running,
		Description: "Measure operations of symmrepl in this session. It may take minutes."}, c.bench)
	return server, nil
}

// name returns the client's name for users.
func name(r *sdk.CallToolRequest) string {
	given := ""
	if p := r.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		given = p.ClientInfo.Name
	}
	return cmp.Or(clients.Name(given), "a program") + " (mcp)"
}
