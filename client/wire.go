package client

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A message is a frame: the length of what follows, the length of a JSON header, the header, and a payload that is always empty here. Lengths are of
// four bytes, big-endian.

// maxFrame bounds what is read.
const maxFrame = 64 << 20

// request asks the session; one field beside ID is set.
type request struct {
	ID     uint64
	Hello  int   `json:",omitempty"`
	Eval   *cell `json:",omitempty"`
	Ranks  bool  `json:",omitempty"`
	Cancel bool  `json:",omitempty"` // of the request ID
}

type cell struct {
	Source string
	Ranks  []int
}

// reply answers the request ID: any number of outputs, then the rest.
type reply struct {
	ID     uint64
	Output *Output
	Reply  *Result
	Ranks  []struct{ Rank int }
	Err    string
}

func (s *Session) send(q request) error {
	header, err := json.Marshal(q)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(header)))
	s.write.Lock()
	defer s.write.Unlock()
	_, err = s.conn.Write(append(frame, header...))
	return err
}

// ask puts a request and returns the last reply to it, and the outputs before that.
func (s *Session) ask(q request) (reply, []Output) {
	c := &call{done: make(chan reply, 1)}
	s.mu.Lock()
	if s.lost != nil {
		defer s.mu.Unlock()
		return reply{Err: s.lost.Error()}, nil
	}
	s.last++
	q.ID = s.last
	s.open[q.ID] = c
	s.mu.Unlock()
	if err := s.send(q); err != nil {
		s.conn.Close() // the reader ends, and answers
	}
	return <-c.done, c.outputs
}

// read hands replies to those who wait for them, until the session ends.
func (s *Session) read() {
	in := bufio.NewReader(s.conn)
	for {
		r, err := receive(in)
		s.mu.Lock()
		if err != nil {
			s.lost = errors.New("the session has ended, or the connection with it")
			for id, c := range s.open {
				delete(s.open, id)
				c.done <- reply{Err: s.lost.Error()}
			}
			s.mu.Unlock()
			s.conn.Close()
			return
		}
		c := s.open[r.ID]
		if r.Output == nil {
			delete(s.open, r.ID)
		}
		s.mu.Unlock()
		switch {
		case c == nil:
		case r.Output != nil:
			c.outputs = append(c.outputs, *r.Output)
		default:
			c.done <- r
		}
	}
}

func receive(in *bufio.Reader) (r reply, err error) {
	var lengths [8]byte
	if _, err := io.ReadFull(in, lengths[:]); err != nil {
		return r, err
	}
	total, header := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])
	if header > maxFrame || total != 4+header {
		return r, fmt.Errorf("a frame of %d bytes with a header of %d: the other end is not symmrepl", total, header)
	}
	b := make([]byte, header)
	if _, err := io.ReadFull(in, b); err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}
