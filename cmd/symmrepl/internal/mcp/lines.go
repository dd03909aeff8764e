package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jsonlines"
)

// messages are the lines of a client. The SDK ends the connection at a line that is no message, so
// it reads only those that are; messages answers the others.
type messages struct {
	in    io.Closer
	lines *jsonlines.Reader
	out   *lineWriter
	rest  []byte // of the line that is being read
}

func newMessages(in io.ReadCloser, out io.WriteCloser) *messages {
	return &messages{in: in, lines: jsonlines.NewReader(in, maxRequest), out: &lineWriter{WriteCloser: out}}
}

// Read implements io.Reader.
func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.lines.Next()
		if errors.Is(err, jsonlines.ErrTooLong) {
			m.out.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message is longer than %d bytes", maxRequest))
			continue
		}
		if err != nil {
			return 0, err
		}
		if id, code, why := wrong(line); code != 0 {
			m.out.refuse(id, code, why)
			continue
		}
		m.rest = append(line, '\n')
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (m *messages) Close() error { return m.in.Close() }

// wrong returns the error of a line that is no message, and its ID if it has one; code is 0 if the
// line is a message.
func wrong(line []byte) (id json.RawMessage, code int64, why string) {
	if !json.Valid(line) {
		return nil, jsonrpc.CodeParseError, "a line is no JSON: each message is one line of JSON"
	}
	if line[0] != '{' {
		return nil, jsonrpc.CodeInvalidRequest, "a message is an object of JSON, one on a line; there are no batches"
	}
	var head struct {
		ID     json.RawMessage `json:"id"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(line, &head) == nil && answers(head.ID) {
		id = head.ID
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return id, jsonrpc.CodeInvalidRequest, "a message is no JSON-RPC 2.0: " + err.Error()
	}
	if id != nil && id[0] != '"' && json.Unmarshal(id, new(int64)) != nil { // the SDK would answer by another number
		return id, jsonrpc.CodeInvalidRequest, "id is a text or a whole number of at most 64 bits"
	}
	if p := bytes.TrimSpace(head.Params); len(p) > 0 && p[0] != '{' && string(p) != "null" {
		return id, jsonrpc.CodeInvalidParams, "params is not an object"
	}
	return nil, 0, ""
}

// answers reports whether an answer can have this ID: a number or a text.
func answers(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// lineWriter writes lines, one at a time.
type lineWriter struct {
	mu sync.Mutex
	io.WriteCloser
}

// Write implements io.Writer. The SDK writes a message by one call.
func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(b)
}

// refuse writes the answer to a line that is no message. id is nil if the line has none.
func (w *lineWriter) refuse(id json.RawMessage, code int64, why string) {
	answer := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: why}}
	if b, err := json.Marshal(answer); err == nil {
		w.Write(append(b, '\n'))
	}
}

// sendable leaves out the data of errors that are no JSON: the SDK writes a client's text into it
// unescaped, and ends the connection if it cannot send an answer.
func sendable(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		if e := new(jsonrpc.Error); errors.As(err, &e) && len(e.Data) > 0 && !json.Valid(e.Data) {
			err = &jsonrpc.Error{Code: e.Code, Message: e.Message}
		}
		return result, err
	}
}
