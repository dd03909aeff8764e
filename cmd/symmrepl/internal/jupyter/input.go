package jupyter

import (
	"context"
	"encoding/json"
	"io"
)

// ask asks the front end that sent the entry for a line of standard input.
func (s *screen) ask(ctx context.Context) (string, error) {
	if !s.input {
		s.Note(nil, "the cell reads standard input; this front end has none to offer")
		return "", io.EOF
	}
	s.mu.Lock()
	s.flush(true)
	s.mu.Unlock()
	answers := make(chan string, 1)
	s.k.expect(answers)
	defer s.k.expect(nil)
	s.k.send(s.k.stdin, s.request, "input_request", content{"prompt": "", "password": false})
	select {
	case text := <-answers:
		s.CloseLine()
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// expect says where the next line of standard input is to go.
func (k *Kernel) expect(answers chan<- string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers = answers
}

// answered takes in a front end's input_reply.
func (k *Kernel) answered(r *request) {
	var said struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(r.content, &said) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answers != nil {
		k.answers <- said.Value
		k.answers = nil
	}
}
