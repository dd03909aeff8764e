package rank

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/finding"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// communicator adapts a symmem.Runtime to session.Communicator.
type communicator struct {
	runtime *symmem.Runtime
	places  places
}

// The interfaces of a session that a communicator implements.
var (
	_ session.Communicator           = communicator{}
	_ session.DeviceNamer            = communicator{}
	_ session.SharingReporter        = communicator{}
	_ session.ProgressReporter       = communicator{}
	_ session.WaitEnder              = communicator{}
	_ session.KernelReporter         = communicator{}
	_ session.Confiner               = communicator{}
	_ session.SanitizingCommunicator = communicator{}
	_ session.CellCommunicator       = communicator{}
)

// places maps positions of symmem's reports to the user's text. *interp.Interp implements it.
type places interface {
	Place(e *session.Error, at int)
}

func (c communicator) Abort(why string)   { c.runtime.Abort(why) }
func (c communicator) Close() error       { return c.runtime.Close() }
func (c communicator) DeviceName() string { return c.runtime.DeviceName() }

// Sharers lists the ranks that share this rank's GPU, including this one; nil if no other rank uses
// it.
func (c communicator) Sharers() []int { return c.runtime.Sharing().With(c.runtime.Rank()) }

// Note is a remark about the device for the start of a session.
func (c communicator) Note() string { return c.runtime.Note() }

func (c communicator) Waits() []session.Wait { return c.waits(c.runtime.Waits()) }

func (c communicator) waits(list []symmem.Wait) (waits []session.Wait) {
	for _, w := range list {
		at := line(c.places, w.Caller)
		if replayed := line(c.places, w.Replayed); replayed != "" {
			at += " (last replayed at " + replayed + ")"
		}
		waits = append(waits, session.Wait{
			Op: w.Op, Ordinal: w.Ordinal, Group: w.Group, Peers: w.Peers, For: w.For, Since: w.Since.Seconds(),
			Limit: w.Limit.Seconds(), At: at,
			Call: w.Call, Sure: w.Sure, Anyone: w.Anyone, Host: w.Host, NCCL: w.Library, Seen: w.Seen,
		})
	}
	return waits
}

// Progress returns the progress of this rank.
func (c communicator) Progress() session.Progress {
	p := c.runtime.Progress()
	out := session.Progress{Waits: c.waits(p.Waits), Moves: p.Moves, Stands: p.Stands, Inside: p.Inside, Watched: p.Watched,
		Compiles: p.Compiles, CompilesFor: p.CompilesFor.Seconds()}
	if p.Compiles != "" {
		out.CompilesAt = line(c.places, p.CompilesCaller)
	}
	for _, e := range p.Exchanged {
		out.Exchanged = append(out.Exchanged, session.Exchanged(e))
	}
	return out
}

// EndWaits ends waits that cannot end by themselves.
func (c communicator) EndWaits(why string) { c.runtime.EndWaits(why) }

// Busy lists the kernels that run.
func (c communicator) Busy() []session.Busy {
	var busy []session.Busy
	for _, b := range c.runtime.Busy() {
		busy = append(busy, session.Busy{Kernel: b.Kernel, At: line(c.places, b.Caller), Spins: b.Spins, Goes: b.Goes,
			Since: b.Since.Seconds(), Seen: b.Seen})
	}
	return busy
}

func (c communicator) Tallies() []session.Tally {
	var tallies []session.Tally
	for _, t := range c.runtime.Tallies() {
		tallies = append(tallies, session.Tally{
			Group: t.Group, Key: t.Key, Ranks: t.Ranks, Calls: t.Calls, Digest: t.Digest, Last: t.Last, At: line(c.places, t.Caller),
		})
	}
	return tallies
}

// Sanitize switches the sanitizer on or off.
func (c communicator) Sanitize(s session.Sanitizing) *session.Error {
	if err := symmem.Maybe(func() { c.runtime.Sanitize(s.On, s.Seed) }); err != nil {
		return explain(err, c.places)
	}
	return nil
}

// Sanitizing returns the state of the sanitizer.
func (c communicator) Sanitizing() (s session.Sanitizing) {
	s.On, s.Seed = c.runtime.Sanitized()
	return s
}

// Findings returns the new findings of the sanitizer.
func (c communicator) Findings() []session.Finding {
	return finding.Of(c.runtime.Findings(), c.places.Place)
}

func (c communicator) BeginCell(cell int) { c.runtime.BeginCell(cell) }

func (c communicator) Begin(run uint64) { c.runtime.Begin(run) }

// Confine refuses collective calls that need ranks on which the cell does not run.
func (c communicator) Confine(ranks []int) { c.runtime.Confine(ranks) }

func (c communicator) Finish(ctx context.Context) *session.Error {
	if err := c.runtime.Finish(ctx); err != nil {
		return explain(err, c.places)
	}
	return nil
}

func (c communicator) Recover(ctx context.Context, replaced []int) ([]string, error) {
	return c.runtime.Recover(ctx, replaced)
}

// line returns the line of the user's text at a position, such as "cell[3]:7"; "" if it is not
// known.
func line(p places, at int) string {
	var e session.Error
	if p.Place(&e, at); e.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}
