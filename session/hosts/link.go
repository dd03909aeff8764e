package hosts

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// linkTimeout is the time that the other end of a link may take to accept a message.
const linkTimeout = 10 * time.Second

// MeetingAt returns the meeting of a session's processes.
func MeetingAt(place *rendezvous.Place, size int) rendezvous.Meeting {
	return rendezvous.Meeting{Place: place, Size: size, Version: wire.Version, Payload: wire.MaxPayload, Build: rendezvous.Build()}
}

// Remote is a supervisor in another process.
type Remote struct {
	Link *rendezvous.Link
	Gone chan struct{} // closed when the link has ended
}

// NewRemote returns the supervisor at the other end of a link.
func NewRemote(link *rendezvous.Link) *Remote {
	link.WriteWithin(linkTimeout)
	return &Remote{link, make(chan struct{})}
}

// Do sends a command to the supervisor.
func (k *Remote) Do(c wire.Command, payload []byte) {
	send(k.Link, c, payload)
}

// Close ends the session in that process.
func (k *Remote) Close() { k.Quit(supervisor.QuitGrace + time.Second) }

// Quit ends the session in that process. If that takes longer than limit, it closes the link.
func (k *Remote) Quit(limit time.Duration) {
	k.Do(wire.Command{Quit: true}, nil)
	select {
	case <-k.Gone:
	case <-time.After(limit):
		k.Link.Close()
	}
}

// Listen passes on the supervisor's events until the link ends, and returns the reason for its end.
func (k *Remote) Listen(emit func(wire.Event, []byte)) error {
	defer close(k.Gone)
	for {
		var e wire.Event
		payload, err := k.Link.In.Read(&e)
		if err != nil {
			k.Link.Close()
			return err
		}
		emit(e, payload)
	}
}

// GoneBecause describes, for a rank, that its supervisor is gone. A killed supervisor's connection
// ends or is reset, whichever the kernel does: that is the same for the user.
func GoneBecause(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return "its supervisor is gone (the connection ended)"
	}
	return fmt.Sprintf("its supervisor is gone (%v)", err)
}

// send writes a message to a link, and closes the link if the other end does not take it. The
// reading end reports the failure.
func send(link *rendezvous.Link, message any, payload []byte) {
	if link.Out.Write(message, payload) != nil {
		link.Close()
	}
}
