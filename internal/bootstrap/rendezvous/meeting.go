package rendezvous

import (
	"cmp"
	"fmt"
	"net"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
)

const (
	// Timeout is how long the ranks of a world have to come, after the first.
	Timeout = 60 * time.Second
	// NoticeAfter is how long a rank waits for others before it says so, and noticeEvery for how long it says nothing more then.
	NoticeAfter = 2 * time.Second
	noticeEvery = 10 * time.Second
	// HandshakeTimeout bounds the exchange of Hello and answer on a new connection.
	HandshakeTimeout = 5 * time.Second
	// dialEvery is the time between attempts while rank 0 is not there.
	dialEvery = 20 * time.Millisecond
)

// Meeting is what the processes of a world agree on before they meet. It is a value: methods do not change it.
type Meeting struct {
	Place   *Place
	Size    int    // ranks of the world
	Version int    // of what the links carry
	Payload int    // bound of the payload of a link's frames, in bytes
	Build   string // what this process runs: see the function of that name
	// Heartbeat is how long the other end of a link may be silent; 0 is for ever. That of rank 0 counts. Ranks that meet at a Unix socket need none.
	Heartbeat time.Duration
	// Waits, unless nil, is told for which ranks this one waits and where, if that takes longer than NoticeAfter. It is called in a goroutine
	// of its own.
	Waits func(missing []int, where string)
}

// Hello opens every connection with rank 0, as the header of a frame.
type Hello struct {
	Version     int
	Rank, Size  int
	Incarnation int // 0 if the rank joins; of a further connection, the worker of the rank that it is for, from 1
	Build       string
}

// welcome is rank 0's answer to a Hello.
type welcome struct {
	Refused   string        `json:",omitempty"` // why the connection is not wanted; empty if it is
	Heartbeat time.Duration `json:",omitempty"` // of this connection
}

// RefusedError reports that rank 0 does not admit this process.
type RefusedError struct {
	Why string // "rank 0 is in a world of 2 ranks, not 3"
}

func (e *RefusedError) Error() string { return e.Why }

// Link is a connection between rank 0 and another rank on which Hello has been exchanged. Close ends it.
type Link struct {
	*heartbeat.Conn
	Hello Hello // of the rank that joined
	In    *frame.Reader
	Out   *frame.Writer
}

// newLink makes a link of a new connection, which has HandshakeTimeout for the handshake.
func (m Meeting) newLink(conn net.Conn) *Link {
	conn.SetDeadline(time.Now().Add(HandshakeTimeout))
	beating := heartbeat.New(conn)
	return &Link{Conn: beating, In: frame.NewReader(beating, m.Payload), Out: frame.NewWriter(beating)}
}

// heartbeat is that of the link of a process that has opened with h. A further connection of a rank ends with the first.
func (m Meeting) heartbeat(h Hello) time.Duration {
	if h.Incarnation > 0 || m.Heartbeat == 0 || m.Place.socket != "" {
		return 0
	}
	return m.Heartbeat
}

// mismatch says why a process that opens with h cannot be of this world, "" if it can.
func (m Meeting) mismatch(h Hello) string {
	switch {
	case h.Build != m.Build:
		return fmt.Sprintf("rank 0 runs %s, and rank %d runs %s: all ranks must run the same", m.Build, h.Rank, cmp.Or(h.Build, "a symmrepl that does not say what it is"))
	case h.Version != m.Version:
		return fmt.Sprintf("rank 0 runs another version of symmrepl (protocol %d, not %d)", m.Version, h.Version)
	case h.Size != m.Size:
		return fmt.Sprintf("rank 0 is in a world of %d ranks, not %d", m.Size, h.Size)
	case h.Rank < 1 || h.Rank >= m.Size:
		return fmt.Sprintf("rank %d cannot join a world of %d", h.Rank, m.Size)
	}
	return ""
}
