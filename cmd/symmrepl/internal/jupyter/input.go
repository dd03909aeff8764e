package jupyter

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// connectPause is the time between two checks whether a front end has connected.
const connectPause = 20 * time.Millisecond

// ask asks the front end that sent the entry for a line of standard input.
func (s *screen) ask(ctx context.Context) (string, error) {
	if !s.input {
		s.Note(nil, "the cell reads standard input; this front end has none to offer")
		return "", io.EOF
	}
	s.Flush()
	answers := make(chan string, 1)
	s.k.expect(s.request.peer, answers)
	defer s.k.expect("", nil)
	// the channels of a front end connect separately
	for !s.k.send(s.k.stdin, s.request, "input_request", content{"prompt": "", "password": false}) {
		select {
		case <-time.After(connectPause):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	select {
	case text := <-answers:
		s.CloseLine()
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// expect sets the front end that is asked for the next line of standard input, and the destination
// of the line.
func (k *Kernel) expect(peer string, answers chan<- string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked, k.answers = peer, answers
}

// answered takes the input_reply of the front end that was asked. It ignores replies of others.
func (k *Kernel) answered(r *request) {
	var said struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(r.content, &said) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answers != nil && r.peer == k.asked {
		k.answers <- said.Value
		k.answers = nil
	}
}
