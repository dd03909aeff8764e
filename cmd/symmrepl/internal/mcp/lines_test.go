package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
)

// A line that is no message is answered, and the connection goes on.
func TestWrongLines(t *testing.T) {
	s, _ := newServer()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), there, there) }()
	answers := bufio.NewReader(here)
	say := func(line string) {
		t.Helper()
		if _, err := io.WriteString(here, line+"\n"); err != nil {
			t.Fatalf("%.80s: %v", line, err)
		}
	}
	type message struct {
		ID    any
		Error struct{ Code int }
	}
	hear := func() (m message) {
		t.Helper()
		line, err := answers.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	hear()
	for _, c := range []struct {
		line string
		id   any
		code int
	}{
		{`garbage`, nil, -32700}, {`{"jsonrpc":"2.0","id":4,"method":"ping"} more`, nil, -32700}, {"\xff", nil, -32700},
		{strings.Repeat("[", 20000), nil, -32700}, {strings.Repeat("x", maxRequest+1), nil, -32600},
		{`{}`, nil, -32600}, {`[]`, nil, -32600}, {`null`, nil, -32600}, {`5`, nil, -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600}, {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, 1.0, -32600},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 1.5, -32600}, {`{"jsonrpc":"2.0","id":"a","method":5}`, "a", -32600},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":5}`, 3.0, -32602},
		{`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"symmrepl://\u0000"}}`, 3.0, -32602},
		{`{"jsonrpc":"2.0","id":3,"method":"nosuch"}`, 3.0, -32601},
		{`{"jsonrpc":"2.0","id":3,"method":"ping"}`, 3.0, 0},
	} {
		say(c.line)
		if got := hear(); got.ID != c.id || got.Error.Code != c.code {
			t.Errorf("%.80s: %+v, want ID %v and code %d", c.line, got, c.id, c.code)
		}
	}
	here.Close()
	<-served
}
