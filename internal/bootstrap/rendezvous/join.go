package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Join connects rank to rank 0; incarnation is as in Hello. While rank 0 does not listen, or does
// not answer in time, Join tries again until ctx ends. The error is a *RefusedError if rank 0 does
// not admit the connection.
func (m Meeting) Join(ctx context.Context, rank, incarnation int) (*Link, error) {
	h := Hello{Version: m.Version, Rank: rank, Size: m.Size, Incarnation: incarnation, Build: m.Build}
	if m.Waits != nil && incarnation == 0 {
		defer time.AfterFunc(NoticeAfter, func() { m.Waits([]int{0}, m.Place.described()) }).Stop()
	}
	for {
		conn, err := m.Place.dial(ctx)
		if err == nil {
			link := m.newLink(conn)
			if err = link.introduce(h); err == nil {
				return link, nil
			}
			conn.Close()
		}
		if refused := new(RefusedError); errors.As(err, &refused) || stranger(err) {
			return nil, explain(err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(dialEvery):
		}
	}
}

// At returns the meeting at the address that link, a result of Join, has found.
func (m Meeting) At(link *Link) Meeting {
	m.Place = m.Place.reached(link.Conn)
	return m
}

// introduce sends h and waits for rank 0's answer.
func (l *Link) introduce(h Hello) error {
	l.Hello = h
	if err := l.Out.Write(h, nil); err != nil {
		return err
	}
	var w welcome
	if _, err := l.In.Read(&w); err != nil {
		return err
	}
	if w.Refused != "" {
		return &RefusedError{w.Refused}
	}
	return l.establish(w.Heartbeat)
}

// establish ends the handshake. limit is the heartbeat, 0 for none.
func (l *Link) establish(limit time.Duration) error {
	err := l.SetDeadline(time.Time{})
	if limit > 0 {
		l.Start(limit)
	}
	return err
}

// explain adds advice for the user to the error of a handshake.
func explain(err error) error {
	if stranger(err) {
		return fmt.Errorf("%w: is %s the same on all hosts?", err, TokenVariable)
	}
	return err
}
