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
	// Timeout is the time that the ranks of a world have to come after the first one.
	Timeout = 60 * time.Second
	// NoticeAfter is the time that a rank waits for others before it reports that it waits.
	// noticeEvery is the time between further reports.
	NoticeAfter = 2 * time.Second
	noticeEvery = 10 * time.Second
	// HandshakeTimeout bounds the exchange of Hello and answer on a new connection.
	HandshakeTimeout = 5 * time.Second
	// dialEvery is the time between attempts while rank 0 does not listen.
	dialEvery = 20 * time.Millisecond
)

// Meeting holds the settings on which the processes of a world agree before they meet. It is a
// value: methods do not change it.
type Meeting struct {
	Place   *Place
	Size    int    // number of ranks of the world
	Version int    // version of the protocol on the links
	Payload int    // bound of the payload of a link's frames, in bytes
	Build   string // this process's build: see the function of that name
	// Heartbeat is the time that the other end of a link may be silent; 0 means no limit. Rank 0's
	// value counts. Ranks that meet at a Unix socket need no heartbeat.
	Heartbeat time.Duration
	// Waits, unless nil, is called if this rank waits for longer than NoticeAfter, with the missing
	// ranks and the place. It is called in its own goroutine.
	Waits func(missing []int, where string)
}

// Hello opens every connection to rank 0, as the header of a frame.
type Hello struct {
	Version     int
	Rank, Size  int
	Incarnation int // 0 if the rank joins; for a further connection, the incarnation of the rank's worker, from 1
	Build       string
}

// welcome is rank 0's answer to a Hello.
type welcome struct {
	Refused   string        `json:",omitempty"` // why the connection is refused; empty if it is accepted
	Heartbeat time.Duration `json:",omitempty"` // of this connection
}

// RefusedError reports that rank 0 does not admit this process.
type RefusedError struct {
	Why string // "rank 0 is in a world of 2 ranks, not 3"
}

func (e *RefusedError) Error() string { return e.Why }

// Link is a connection between rank 0 and another rank after the exchange of Hello. Close ends it.
type Link struct {
	*heartbeat.Conn
	Hello Hello // the Hello of the rank that joined
	In    *frame.Reader
	Out   *frame.Writer
}

// newLink makes a link from a new connection, whose handshake has to end within HandshakeTimeout.
func (m Meeting) newLink(conn net.Conn) *Link {
	conn.SetDeadline(time.Now().Add(HandshakeTimeout))
	beating := heartbeat.New(conn)
	return &Link{Conn: beating, In: frame.NewReader(beating, m.Payload), Out: frame.NewWriter(beating)}
}

// Silence returns the time for which another rank may be silent before it is lost; 0 if no silence
// counts.
func (m Meeting) Silence() time.Duration {
	if m.Heartbeat == 0 || m.Place.socket != "" {
		return 0
	}
	return m.Heartbeat
}

// heartbeat returns the heartbeat of the link that h has opened. It is 0 for a further connection
// of a rank, which ends with the first one.
func (m Meeting) heartbeat(h Hello) time.Duration {
	if h.Incarnation > 0 {
		return 0
	}
	return m.Silence()
}

// mismatch returns the reason for which a process that opens with h cannot belong to this world, ""
// if it can.
func (m Meeting) mismatch(h Hello) string {
	switch {
	case h.Build != m.Build:
		return fmt.Sprintf("rank 0 runs %s, and rank %d runs %s: all ranks must run the same", m.Build, h.Rank,
			cmp.Or(h.Build, "an unknown build of symmrepl"))
	case h.Version != m.Version:
		return fmt.Sprintf("rank 0 runs another version of symmrepl (protocol %d, not %d)", m.Version, h.Version)
	case h.Size != m.Size:
		return fmt.Sprintf("rank 0 is in a world of %d ranks, not %d", m.Size, h.Size)
	case h.Rank < 1 || h.Rank >= m.Size:
		return fmt.Sprintf("rank %d cannot join a world of %d", h.Rank, m.Size)
	}
	return ""
}
