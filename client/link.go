package client

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
)

// link is the connection to a session. Several goroutines can send requests over it.
type link struct {
	conn net.Conn

	write sync.Mutex // one frame at a time

	mu   sync.Mutex
	last uint64
	open map[uint64]*call
	lost error
}

// call is an outstanding request.
type call struct {
	outputs []Output
	done    chan reply
}

// errTooLarge is the error of a request that was not sent.
var errTooLarge = fmt.Errorf("the request is larger than %d bytes", maxFrame)

func newLink(conn net.Conn) *link {
	l := &link{conn: conn, open: map[uint64]*call{}}
	go l.read()
	return l
}

func (l *link) close() error { return l.conn.Close() }

// interrupt cancels the outstanding requests.
func (l *link) interrupt() {
	l.mu.Lock()
	var open []uint64
	for id := range l.open {
		open = append(open, id)
	}
	l.mu.Unlock()
	for _, id := range open {
		l.send(request{ID: id, Cancel: true})
	}
}

func (l *link) send(q request) error {
	header, err := json.Marshal(q)
	if err != nil {
		return err
	}
	if len(header) > maxFrame {
		return errTooLarge
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(header)))
	l.write.Lock()
	defer l.write.Unlock()
	_, err = l.conn.Write(append(frame, header...))
	return err
}

// ask sends a request and returns its last reply, and the outputs that came before it.
func (l *link) ask(q request) (reply, []Output) {
	c := &call{done: make(chan reply, 1)}
	l.mu.Lock()
	if l.lost != nil {
		defer l.mu.Unlock()
		return reply{Err: l.lost.Error()}, nil
	}
	l.last++
	q.ID = l.last
	l.open[q.ID] = c
	l.mu.Unlock()
	if err := l.send(q); errors.Is(err, errTooLarge) {
		l.mu.Lock()
		delete(l.open, q.ID)
		l.mu.Unlock()
		return reply{Err: err.Error()}, nil
	} else if err != nil {
		l.conn.Close() // ends read, which answers all calls
	}
	return <-c.done, c.outputs
}

// read passes replies to their calls until the connection ends. It then answers the outstanding
// calls with an error.
func (l *link) read() {
	in := bufio.NewReader(l.conn)
	for {
		r, err := receive(in)
		l.mu.Lock()
		if err != nil {
			l.lost = errors.New("the session has ended, or the connection with it")
			for id, c := range l.open {
				delete(l.open, id)
				c.done <- reply{Err: l.lost.Error()}
			}
			l.mu.Unlock()
			l.conn.Close()
			return
		}
		c := l.open[r.ID]
		if r.Output == nil {
			delete(l.open, r.ID)
		}
		l.mu.Unlock()
		switch {
		case c == nil:
		case r.Output != nil:
			c.outputs = append(c.outputs, *r.Output)
		default:
			c.done <- r
		}
	}
}
