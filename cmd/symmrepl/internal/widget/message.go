package widget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// maxMessage bounds a front end's message, in bytes: more than any change of a control takes.
const maxMessage = 1 << 20

// ProtocolVersion is the version of the messages in the metadata of comm_open.
const ProtocolVersion = "2.1.0"

// Target names of comms.
const (
	target  = "jupyter.widget"         // a model
	control = "jupyter.widget.control" // asks for all models
)

// The kinds of messages.
const (
	kindOpen    = "comm_open"
	kindMessage = "comm_msg"
	kindClose   = "comm_close"
)

// message is a comm message of a front end.
type message struct {
	kind   string
	comm   string
	target string // of comm_open
	method string // of comm_msg
	state  map[string]json.RawMessage
	event  string // of the method custom
}

// envelope is the content of a message.
type envelope struct {
	Comm   string          `json:"comm_id"`
	Target string          `json:"target_name"`
	Data   json.RawMessage `json:"data"`
}

// change is the data of comm_msg.
type change struct {
	Method  string                     `json:"method"`
	State   map[string]json.RawMessage `json:"state"`
	Content struct {
		Event string `json:"event"`
	} `json:"content"`
}

// parse reads a comm message. It returns an error for everything that the protocol does not have.
func parse(kind string, content []byte) (m message, err error) {
	var outer envelope
	if len(content) > maxMessage {
		return m, fmt.Errorf("%s of %d bytes: %d are the most", kind, len(content), maxMessage)
	}
	if err := json.Unmarshal(content, &outer); err != nil {
		return m, fmt.Errorf("%s: %w", kind, err)
	}
	m = message{kind: kind, comm: outer.Comm, target: outer.Target}
	if m.comm == "" {
		return m, fmt.Errorf("%s names no comm", kind)
	}
	if kind != kindMessage {
		return m, nil
	}
	var data change
	if err := json.Unmarshal(outer.Data, &data); err != nil {
		return m, fmt.Errorf("%s: data: %w", kind, err)
	}
	m.method, m.state, m.event = data.Method, data.State, data.Content.Event
	if !slices.Contains([]string{"update", "request_state", "request_states", "custom"}, m.method) {
		return m, fmt.Errorf("%s: the method %.40q is unknown", kind, m.method)
	}
	return m, nil
}

// plain returns a JSON value that is a number, a string or a bool.
func plain(raw json.RawMessage) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	switch v.(type) {
	case float64, string, bool:
		return v, nil
	}
	return nil, fmt.Errorf("a value is a number, a string or a bool")
}
