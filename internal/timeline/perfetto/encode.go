package perfetto

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symmrepl/symmrepl/internal/timeline"
)

// sequence is the id of the only sequence of packets in a file.
const sequence = 1

// root is the id of the track at the root; those of others follow.
const root = 1

// Write writes a timeline as a file.
func Write(to io.Writer, t *timeline.Timeline) error {
	w := &writer{out: bufio.NewWriter(to), t: t, strings: map[interned]uint64{}, next: root, leaving: map[timeline.End][]uint64{},
		reaching: map[timeline.End][]uint64{}}
	w.connect()
	w.clock()
	w.tracks()
	for _, e := range w.events() {
		w.event(e)
	}
	return cmp.Or(w.err, w.out.Flush())
}

// interned is a string of a kind, a field of InternedData.
type interned struct {
	kind protowire.Number
	text string
}

// writer writes the packets of a file.
type writer struct {
	out     *bufio.Writer
	err     error
	t       *timeline.Timeline
	strings map[interned]uint64
	fresh   message // the strings that the next packet defines
	next    uint64  // id of the next track
	lanes   []lane
	// ids of arrows by the slices at their ends
	leaving, reaching map[timeline.End][]uint64
}

// lane is a track of the file with its slices, which are in order: the outer before the inner.
type lane struct {
	id     uint64
	rank   int // index
	slices []int
}

// event is the begin or the end of a slice.
type event struct {
	at    int64
	kind  uint64
	lane  *lane
	slice int // among those of the rank; -1 for the event with the header
}

// packet writes a packet.
func (w *writer) packet(p message) {
	p.uint(packetSequence, sequence)
	if w.err == nil {
		var m message
		m.sub(tracePacket, p)
		_, w.err = w.out.Write(m)
	}
}

// clock writes that all times are CLOCK_MONOTONIC of the first rank.
func (w *writer) clock() {
	var clock, snapshot, defaults, p message
	clock.uint(clockID, monotonic)
	clock.uint(clockTime, uint64(w.t.Zero))
	snapshot.sub(snapshotClock, clock)
	snapshot.uint(snapshotPrimary, monotonic)
	defaults.uint(defaultsClock, monotonic)
	p.uint(packetFlags, stateCleared)
	p.sub(packetDefaults, defaults)
	p.sub(packetClockSnapshot, snapshot)
	w.packet(p)
}

// track defines a track and returns its id. Its children are in the order of their definition.
func (w *writer) track(name, description string, parent uint64) uint64 {
	id := w.next
	w.next++
	var d, p message
	d.uint(trackUUID, id)
	d.text(trackName, strings.ToValidUTF8(name, "?"))
	if parent != 0 {
		d.uint(trackParent, parent)
		d.uint(trackRank, id)
	}
	d.uint(trackChildren, explicit)
	if description != "" {
		d.text(trackDescription, strings.ToValidUTF8(description, "?"))
	}
	p.sub(packetTrack, d)
	w.packet(p)
	return id
}

// tracks defines the tracks and gives each slice its lane.
func (w *writer) tracks() {
	top := w.track("symmrepl", strings.Join(w.t.Header(), "\n"), 0)
	w.lanes = append(w.lanes, lane{id: top})
	for i := range w.t.Ranks {
		r := &w.t.Ranks[i]
		within := fmt.Sprintf("times are exact to ± %d ns against those of rank %d", w.t.Within[i], w.t.Ranks[0].Rank)
		parent := w.track(fmt.Sprintf("rank %d on host %d", r.Rank, r.Host), within, top)
		byTrack := map[timeline.Track][]int{}
		for j := range r.Slices {
			byTrack[r.Slices[j].Track] = append(byTrack[r.Slices[j].Track], j)
		}
		for _, track := range order(byTrack) {
			for n, list := range nested(r.Slices, byTrack[track]) {
				name := track.String()
				if n > 0 {
					name += fmt.Sprintf(" (%d)", n+1)
				}
				w.lanes = append(w.lanes, lane{w.track(name, "", parent), i, list})
			}
		}
	}
}

// order has a rank's tracks from top to bottom: cells, calls on the host, streams, the network.
func order(byTrack map[timeline.Track][]int) (list []timeline.Track) {
	for track := range byTrack {
		list = append(list, track)
	}
	place := func(t timeline.Track) int {
		switch t {
		case timeline.Cells:
			return -2
		case timeline.Host:
			return -1
		case timeline.Network:
			return int(^uint(0) >> 1)
		}
		return int(t)
	}
	slices.SortFunc(list, func(a, b timeline.Track) int { return cmp.Compare(place(a), place(b)) })
	return list
}

// nested divides slices, by begin and the outer first, into lists of slices that are side by side or
// within each other.
func nested(all []timeline.Slice, list []int) (lanes [][]int) {
	var open [][]int64 // of each lane: the ends of the slices that are open
	for _, i := range list {
		s := &all[i]
		at := -1
		for n := range open {
			for len(open[n]) > 0 && open[n][len(open[n])-1] <= s.Begin {
				open[n] = open[n][:len(open[n])-1]
			}
			if at < 0 && (len(open[n]) == 0 || open[n][len(open[n])-1] >= s.End()) {
				at = n
			}
		}
		if at < 0 {
			at = len(open)
			open, lanes = append(open, nil), append(lanes, nil)
		}
		open[at] = append(open[at], s.End())
		lanes[at] = append(lanes[at], i)
	}
	return lanes
}

// events returns the begins and the ends of all slices by time.
func (w *writer) events() (all []event) {
	all = append(all, event{0, instant, &w.lanes[0], -1})
	for n := range w.lanes[1:] {
		l := &w.lanes[n+1]
		var open []event // their ends
		for _, i := range l.slices {
			s := &w.t.Ranks[l.rank].Slices[i]
			for len(open) > 0 && open[len(open)-1].at <= s.Begin {
				all = append(all, open[len(open)-1])
				open = open[:len(open)-1]
			}
			all = append(all, event{s.Begin, sliceBegin, l, i})
			open = append(open, event{s.End(), sliceEnd, l, i})
		}
		for i := range open {
			all = append(all, open[len(open)-1-i])
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return all
}

// intern returns the id of a string.
func (w *writer) intern(kind protowire.Number, text string) uint64 {
	text = strings.ToValidUTF8(text, "?")
	key := interned{kind, text}
	id, known := w.strings[key]
	if !known {
		id = uint64(len(w.strings) + 1)
		w.strings[key] = id
		var entry message
		entry.uint(internedID, id)
		entry.text(internedText, text)
		w.fresh.sub(kind, entry)
	}
	return id
}

func (w *writer) event(e event) {
	var m, p message
	m.uint(eventType, e.kind)
	m.uint(eventTrack, e.lane.id)
	switch {
	case e.slice < 0:
		m.uint(eventName, w.intern(internedNames, "clock"))
		w.header(&m)
	case e.kind == sliceBegin:
		s := &w.t.Ranks[e.lane.rank].Slices[e.slice]
		m.uint(eventCategory, w.intern(internedCategories, string(s.Kind)))
		m.uint(eventName, w.intern(internedNames, title(s)))
		w.arguments(&m, s)
	}
	if e.slice >= 0 {
		w.arrows(&m, e)
	}
	p.uint(packetTimestamp, uint64(w.t.Zero+e.at))
	p.uint(packetFlags, needsState)
	if len(w.fresh) > 0 {
		p.sub(packetInterned, w.fresh)
		w.fresh = nil
	}
	p.sub(packetEvent, m)
	w.packet(p)
}

// title names a slice.
func title(s *timeline.Slice) string {
	switch {
	case s.Kind == timeline.Wait && len(s.Peers) > 0:
		return "wait for " + timeline.Ranks(s.Peers)
	case s.Replay:
		return s.Name + " (graph)"
	}
	return s.Name
}

// number and words add an argument.
func (w *writer) number(m *message, name string, v int64) {
	var a message
	a.uint(annotationName, w.intern(internedAnnotations, name))
	a.uint(annotationInt, uint64(v))
	m.sub(eventAnnotation, a)
}

func (w *writer) words(m *message, name, v string) {
	if v == "" {
		return
	}
	var a message
	a.uint(annotationName, w.intern(internedAnnotations, name))
	a.uint(annotationString, w.intern(internedStrings, v))
	m.sub(eventAnnotation, a)
}

func (w *writer) arguments(m *message, s *timeline.Slice) {
	w.words(m, "line", s.At)
	w.words(m, "grid", joined(s.Grid))
	w.words(m, "block", joined(s.Block))
	if s.Bytes > 0 {
		w.number(m, "bytes", int64(s.Bytes))
	}
	w.words(m, "over", s.Over)
	if s.Kind == timeline.Wait {
		w.words(m, "waits for", timeline.Ranks(s.Peers))
		w.words(m, "ended by", timeline.Ranks(s.Ended))
		w.words(m, "for", s.For)
	} else {
		w.words(m, "rank", timeline.Ranks(s.Peers))
	}
	w.words(m, "group", s.Group)
	if s.Call > 0 {
		w.number(m, "call", int64(s.Call))
	}
}

// header adds the facts about the clocks.
func (w *writer) header(m *message) {
	for i, line := range w.t.Header() {
		w.words(m, fmt.Sprintf("note %d", i+1), line)
	}
	for i, r := range w.t.Ranks {
		w.number(m, fmt.Sprintf("rank %d within ns", r.Rank), w.t.Within[i])
	}
}

// arrows adds the ids of the arrows that leave a slice, where it begins, or reach it, where it ends.
func (w *writer) arrows(m *message, e event) {
	ids, field := w.leaving, protowire.Number(eventFlow)
	if e.kind == sliceEnd {
		ids, field = w.reaching, eventTerminating
	}
	for _, id := range ids[timeline.End{Rank: e.lane.rank, Slice: e.slice}] {
		m.fixed(field, id)
	}
}

// connect numbers the arrows. One that would go back in time, by less than the clocks are exact to,
// cannot be drawn.
func (w *writer) connect() {
	for i, f := range w.t.Flows {
		if w.t.At(f.From).Begin < w.t.At(f.To).End() {
			w.leaving[f.From] = append(w.leaving[f.From], uint64(i+1))
			w.reaching[f.To] = append(w.reaching[f.To], uint64(i+1))
		}
	}
}

// joined writes dimensions: "4,2".
func joined(dims []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", ","), "[]")
}
