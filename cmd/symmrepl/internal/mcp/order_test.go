package mcp

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// Cells run one at a time, in the order in which they came, whatever comes between them.
func TestOrder(t *testing.T) {
	const cells = 300
	s, fake := newServer()
	var ran []int
	over := make(chan struct{})
	fake.OnEval = func(cell session.Cell) session.Reply {
		n, err := strconv.Atoi(strings.TrimSpace(cell.Source))
		if err != nil {
			t.Errorf("a cell: %v", err)
		}
		if ran = append(ran, n); n == cells-1 {
			close(over)
		}
		return session.Reply{}
	}
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), there, there) }()
	go io.Copy(io.Discard, here)
	var lines strings.Builder
	lines.WriteString(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n")
	for n := range cells {
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"run","arguments":{"source":"%d"}}}`+"\n", n, n)
		lines.WriteString([]string{
			`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"nosuch"}}` + "\n",
			`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":5}}` + "\n",
			`{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"state","arguments":{}}}` + "\n",
			`{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"run","arguments":{"ranks":[9],"source":"?"}}}` + "\n",
			`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"interrupt","arguments":{}}}` + "\n",
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", cells+1),
			"",
		}[n%7])
	}
	if _, err := io.WriteString(here, lines.String()); err != nil {
		t.Fatal(err)
	}
	<-over
	for k, n := range ran {
		if k != n {
			t.Fatalf("cell %d ran as number %d: %v", n, k, ran)
		}
	}
	here.Close()
	<-served
}
