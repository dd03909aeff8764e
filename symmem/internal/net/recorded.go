package net

import "github.com/symmrepl/symmrepl/symmem/internal/net/proxy"

// Message is a message with data or signals, as a recording has it: one that this rank sent, until
// it was delivered or its answer landed, or one that it received, when it was applied.
type Message struct {
	Name         string // "put", "get", "answer", "signal"
	Peer         int    // the rank at its other end
	Received     bool
	Ordinal      uint32 // of the call whose operation a sent one is of, or 0
	Signals      bool   // a signal comes with it
	Number       uint64 // of a put or get, among those from one rank to another
	Bytes        int
	Began, Ended int64 // nanoseconds of CLOCK_MONOTONIC
}

// Record begins to record messages, so many at most; 0 ends the recording.
func (e *Engine) Record(room int) error {
	return e.use("record", func(p *proxy.Proxy) error {
		p.Record(room)
		return nil
	})
}

// Recorded returns the messages that were recorded, in the order in which they ended, and how many
// more there were.
func (e *Engine) Recorded() (list []Message, more int) {
	e.use("record", func(p *proxy.Proxy) error {
		var all []proxy.Recorded
		all, more = p.Recorded()
		for _, r := range all {
			if r.Failed {
				continue
			}
			m := Message{Name: "put", Peer: r.Peer, Received: r.Received, Ordinal: r.Ordinal, Signals: r.Signals,
				Number: r.Number, Bytes: int(r.Bytes), Began: r.Began, Ended: r.Ended}
			switch {
			case r.Kind == proxy.Get:
				m.Name = "get"
			case r.Kind == proxy.Answer:
				m.Name, m.Number = "answer", 0
			case r.Bytes == 0:
				m.Name = "signal"
			}
			list = append(list, m)
		}
		return nil
	})
	return list, more
}
