package mcp

import (
	"context"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// arrivals keep the order in which a client called tools. The SDK handles each call in a goroutine of
// its own, which may begin before that of an earlier call; but cells run in the order in which they
// came.
//
// arrivals are the transport between the SDK and a client: Read gives each call of a tool an Extra of
// its own, by which the tool finds its place in the order. A call leaves the order when its tool has
// returned, or when it is answered without one.
type arrivals struct {
	sdk.Transport
	sdk.Connection

	mu      sync.Mutex
	calls   []arrival
	changed chan struct{} // closed, and made anew, when a call leaves
}

type arrival struct {
	id    jsonrpc.ID
	place *sdk.RequestExtra
	begun bool // its tool runs
}

func newArrivals(t sdk.Transport) *arrivals {
	return &arrivals{Transport: t, changed: make(chan struct{})}
}

// Connect implements sdk.Transport.
func (a *arrivals) Connect(ctx context.Context) (c sdk.Connection, err error) {
	a.Connection, err = a.Transport.Connect(ctx)
	return a, err
}

// Read implements sdk.Connection.
func (a *arrivals) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := a.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "tools/call" {
		place := &sdk.RequestExtra{}
		r.Extra = place
		if r.IsCall() {
			a.arrive(r.ID, place)
		}
	}
	return m, err
}

// Write implements sdk.Connection.
func (a *arrivals) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		a.leave(func(c arrival) bool { return c.id == r.ID && !c.begun })
	}
	return a.Connection.Write(ctx, m)
}

// handle is the SDK's middleware that ends a call.
func (a *arrivals) handle(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if place := r.GetExtra(); place != nil {
			a.begin(place)
			defer a.leave(func(c arrival) bool { return c.place == place })
		}
		return next(ctx, method, r)
	}
}

// arrive gives a call its place, unless its ID is in use: the SDK drops such a call.
func (a *arrivals) arrive(id jsonrpc.ID, place *sdk.RequestExtra) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.ContainsFunc(a.calls, func(c arrival) bool { return c.id == id }) {
		a.calls = append(a.calls, arrival{id: id, place: place})
	}
}

// begin notes that a call's tool runs. The call may have no place yet, if its ID was free just now.
func (a *arrivals) begin(place *sdk.RequestExtra) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.calls, func(c arrival) bool { return c.place == place })
	if i < 0 {
		i = len(a.calls)
		a.calls = append(a.calls, arrival{place: place})
	}
	a.calls[i].begun = true
}

// leave removes the call that is meant, if it is there.
func (a *arrivals) leave(meant func(arrival) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.calls, meant); i >= 0 {
		a.calls = slices.Delete(a.calls, i, i+1)
		close(a.changed)
		a.changed = make(chan struct{})
	}
}

// await waits until all calls before this one, whose tool runs, have left.
func (a *arrivals) await(ctx context.Context, place *sdk.RequestExtra) error {
	for {
		a.mu.Lock()
		first, changed := a.calls[0].place == place, a.changed
		a.mu.Unlock()
		if first {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
