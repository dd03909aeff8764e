package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/internal/accept"
	"github.com/symmrepl/symmrepl/internal/count"
)

// Admit decides about a connection whose Hello fits the meeting. It returns a function that serves
// the link from then on, or the reason for a refusal. serve runs in its own goroutine once the
// answer has been sent to the other end. If the answer cannot be sent, the link is closed, and
// serve runs all the same. Several goroutines may call it at once; it must not call the Server's
// methods.
type Admit func(link *Link) (serve func(), refused string)

// Server is rank 0's side of a meeting: it admits the other ranks. Its methods may be called from
// several goroutines.
type Server struct {
	meeting  Meeting
	loop     *accept.Loop
	admit    Admit
	complete chan struct{} // closed when all ranks have come and have been answered

	mu        sync.Mutex
	joined    map[int]bool   // ranks that admit has accepted
	answered  int            // number of joined ranks that have been answered
	late      bool           // Wait has given up: no more ranks are admitted
	gone      map[int]string // ranks that are not admitted again, and why
	strangers bool
}

// Serve listens for the other ranks at the meeting's place, until Close, and calls admit for each
// connection that fits.
func (m Meeting) Serve(ctx context.Context, admit Admit) (*Server, error) {
	listener, err := m.Place.listen(ctx)
	if err != nil {
		return nil, err
	}
	s := newServer(m, listener, admit)
	go s.loop.Run()
	if m.Waits != nil {
		go s.notice(ctx)
	}
	return s, nil
}

// strangers bounds the connections that have not identified themselves, in addition to two for each
// rank.
const strangers = 64

func newServer(m Meeting, listener net.Listener, admit Admit) *Server {
	s := &Server{meeting: m, admit: admit, complete: make(chan struct{}), joined: map[int]bool{}, gone: map[int]string{}}
	s.loop = &accept.Loop{Listener: listener, Strangers: strangers + 2*m.Size, Patience: HandshakeTimeout, Serve: s.receive}
	return s
}

// Close ends the service. Admitted links stay open.
func (s *Server) Close() error { return s.loop.Listener.Close() }

// Trouble describes the problems of rank 0 with accepting connections, "" if there were none.
func (s *Server) Trouble() string {
	dropped, failed := s.loop.Trouble()
	var said []string
	if failed != nil {
		said = append(said, fmt.Sprintf("rank 0 could not accept connections at times (%v)", failed))
		if errors.Is(failed, syscall.EMFILE) {
			said = append(said, "`ulimit -n` there is too low")
		}
	}
	if dropped > 0 {
		said = append(said, "to make room, rank 0 closed "+count.Of(dropped, "connection")+" that did not say from whom")
	}
	return strings.Join(said, "; ")
}

// Wait returns when every rank but 0 has joined. If ctx ends first, it returns the missing ranks,
// ascending, and no more ranks are admitted.
func (s *Server) Wait(ctx context.Context) (missing []int) {
	select {
	case <-s.complete:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.late = true
	missing = s.missing()
	s.mu.Unlock()
	if len(missing) == 0 {
		<-s.complete
	}
	return missing
}

// notice reports the missing ranks until all have joined.
func (s *Server) notice(ctx context.Context) {
	timer := time.NewTimer(NoticeAfter)
	defer timer.Stop()
	for said := 0; ; timer.Reset(noticeEvery) {
		select {
		case <-s.complete:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		missing := s.Missing()
		if n := len(missing); n > 0 && n != said { // joined ranks stay joined
			said = n
			s.meeting.Waits(missing, s.meeting.Place.described())
		}
	}
}

// Missing returns the ranks other than 0 that have not joined, ascending.
func (s *Server) Missing() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing()
}

// missing is Missing for a caller that holds s.mu.
func (s *Server) missing() (missing []int) {
	for r := 1; r < s.meeting.Size; r++ {
		if !s.joined[r] {
			missing = append(missing, r)
		}
	}
	return missing
}

// Strangers reports whether a process without the meeting's token tried to join.
func (s *Server) Strangers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strangers
}

// receive does the handshake on a new connection and serves it.
func (s *Server) receive(conn net.Conn, known func()) {
	link := s.meeting.newLink(conn)
	if _, err := link.In.Read(&link.Hello); err != nil {
		if stranger(err) {
			s.mu.Lock()
			s.strangers = true
			s.mu.Unlock()
		}
		conn.Close()
		return
	}
	known()
	serve, refused := s.consider(link)
	if refused != "" {
		link.Out.Write(welcome{Refused: refused}, nil)
		conn.Close()
		return
	}
	w := welcome{Heartbeat: s.meeting.heartbeat(link.Hello)}
	if link.Out.Write(w, nil) != nil {
		link.Close()
	}
	link.establish(w.Heartbeat)
	if link.Hello.Incarnation == 0 {
		s.noteAnswered()
	}
	serve()
}

// consider decides about a link whose Hello has come.
func (s *Server) consider(link *Link) (serve func(), refused string) {
	h := link.Hello
	if why := s.meeting.mismatch(h); why != "" {
		return nil, why
	}
	if h.Incarnation > 0 {
		return s.admit(link)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone[h.Rank] != "":
		return nil, s.gone[h.Rank]
	case s.joined[h.Rank]:
		return nil, fmt.Sprintf("rank %d has joined already", h.Rank)
	case s.late:
		return nil, fmt.Sprintf("rank %d has come too late: rank 0 no longer waits", h.Rank)
	}
	serve, refused = s.admit(link)
	s.joined[h.Rank] = refused == ""
	return serve, refused
}

// Refuse sets the answer to a rank that had joined and is gone: why is a sentence that says why it
// is not admitted again.
func (s *Server) Refuse(rank int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[rank] = why
}

// Through records that a rank has joined through another one, and calls admit if the rank is
// accepted. refused is the reason for a refusal, "" if there is none.
func (s *Server) Through(rank int, admit func()) (refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone[rank] != "":
		return s.gone[rank]
	case rank < 1 || rank >= s.meeting.Size:
		return fmt.Sprintf("rank %d cannot join a world of %d", rank, s.meeting.Size)
	case s.joined[rank]:
		return fmt.Sprintf("rank %d has joined already", rank)
	case s.late:
		return fmt.Sprintf("rank %d has come too late: rank 0 no longer waits", rank)
	}
	admit()
	s.joined[rank] = true
	s.countAnswered()
	return ""
}

// noteAnswered counts a rank that has been admitted and answered. Wait must not return earlier,
// because its caller may use the links.
func (s *Server) noteAnswered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.countAnswered()
}

// countAnswered is noteAnswered for a caller that holds s.mu.
func (s *Server) countAnswered() {
	if s.answered++; s.answered == s.meeting.Size-1 {
		close(s.complete)
	}
}
