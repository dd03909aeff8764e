package debugadapter

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

const (
	maxMessage = 4<<20 + 1<<10 // bytes of a client's message with its header
	maxWaiting = 16 << 20      // bytes that wait for a client to read them
)

// messages reads messages of a client. One that is too long is an error, also if it has no end.
type messages struct {
	from *bounded
	in   *bufio.Reader
}

// bounded reads a number of bytes at most.
type bounded struct {
	io.Reader
	left int
}

var errTooLong = errors.New("the message is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func newMessages(in io.Reader) *messages {
	from := &bounded{Reader: in}
	return &messages{from, bufio.NewReader(from)}
}

// next returns the content of the next message.
func (m *messages) next() ([]byte, error) {
	m.from.left = maxMessage
	return dap.ReadBaseMessage(m.in)
}

// outbox sends messages to a client, in order. Its methods do not wait for the client.
type outbox struct {
	to   io.Writer
	lost func() // called if the client does not take messages

	mu      sync.Mutex
	number  int // of the latest message
	waiting [][]byte
	bytes   int
	closed  bool
	more    chan struct{} // has room for one
	done    chan struct{} // closed when all is sent
}

func newOutbox(to io.Writer, lost func()) *outbox {
	o := &outbox{to: to, lost: lost, more: make(chan struct{}, 1), done: make(chan struct{})}
	go o.deliver()
	return o
}

// deliver writes messages until the outbox is closed.
func (o *outbox) deliver() {
	defer close(o.done)
	for {
		o.mu.Lock()
		list, closed := o.waiting, o.closed
		o.waiting, o.bytes = nil, 0
		o.mu.Unlock()
		for _, content := range list {
			if err := dap.WriteBaseMessage(o.to, content); err != nil {
				o.lost()
				return
			}
		}
		if len(list) == 0 {
			if closed {
				return
			}
			<-o.more
		}
	}
}

// put adds a message, whose number number sets.
func (o *outbox) put(m dap.Message, number func(n int)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.number++
	number(o.number)
	content, err := json.Marshal(m)
	if err != nil {
		return
	}
	if o.bytes += len(content); o.bytes > maxWaiting {
		o.closed = true
		if c, ok := o.to.(io.Closer); ok {
			c.Close()
		}
		o.lost()
		return
	}
	o.waiting = append(o.waiting, content)
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// event sends an event.
func (o *outbox) event(e dap.EventMessage) { o.put(e, func(n int) { e.GetEvent().Seq = n }) }

// respond sends the response to a request, or an error if err is one.
func (o *outbox) respond(m dap.RequestMessage, answer dap.ResponseMessage, err error) {
	answer = complete(m, answer, err, 0)
	o.put(answer, func(n int) { answer.GetResponse().Seq = n })
}

// text sends output.
func (o *outbox) text(category, text string) {
	o.event(&dap.OutputEvent{Event: event("output"), Body: dap.OutputEventBody{Category: category, Output: text}})
}

// printer returns a console.Printer that sends its text as output.
func (o *outbox) printer(size int) *render.Printer {
	return render.New(output{o, "stdout"}, output{o, "stderr"}, size, false)
}

// output sends text as output of a category.
type output struct {
	*outbox
	category string
}

func (w output) Write(b []byte) (int, error) {
	w.text(w.category, string(b))
	return len(b), nil
}

// lastWrite is the time that a client has to read the last messages.
const lastWrite = 2 * time.Second

// close sends the waiting messages, as far as the client reads them, and ends the outbox.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	select {
	case <-o.done:
	case <-time.After(lastWrite):
	}
}
