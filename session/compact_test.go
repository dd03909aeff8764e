package session

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
)

// Messages arrive as they were sent, whether they have a compact form or not.
func TestCompact(t *testing.T) {
	plain := evalCommand{Incarnation: 2, Run: 1 << 40, Cell: 300, Name: "In[3]", Line: 7, Columns: 200}
	special := func(change func(*evalCommand)) command {
		e := plain
		change(&e)
		return command{Eval: &e}
	}
	for _, c := range []struct {
		sent    command
		compact bool
	}{
		{command{Eval: &plain}, true},
		{special(func(e *evalCommand) { e.Name, e.Columns = "", 0 }), true},
		{command{Ranks: RankList{1, 2}, Eval: &plain}, false},
		{special(func(e *evalCommand) { e.Program = []string{"a.go"} }), false},
		{special(func(e *evalCommand) { e.Folder = "f" }), false},
		{special(func(e *evalCommand) { e.Sanitize = &Sanitizing{} }), false},
		{special(func(e *evalCommand) { e.Only = RankList{1} }), false},
		{command{Cancel: 3, Abort: "why"}, false},
	} {
		var got command
		if compact := passOn(t, c.sent, &got); compact != c.compact || !reflect.DeepEqual(got, c.sent) {
			t.Errorf("%+v: got %+v, compact %v", c.sent, got, compact)
		}
	}
	done := func(d doneEvent) event { return event{Incarnation: 3, Done: &d} }
	for _, c := range []struct {
		sent    event
		compact bool
	}{
		{done(doneEvent{Run: 9}), true},
		{done(doneEvent{Run: 9, HasValue: true}), true},
		{done(doneEvent{Run: 9, HasValue: true, Rich: true}), false},
		{done(doneEvent{Run: 9, Err: &Error{Kind: KindType, Msg: "m"}}), false},
		{done(doneEvent{Run: 9, Tallies: []Tally{{Key: "k"}}}), false},
		{done(doneEvent{Run: 9, Late: "l"}), false},
		{done(doneEvent{Run: 9, Findings: []Finding{{}}}), false},
		{done(doneEvent{Run: 9, Sanitizing: Sanitizing{On: true}}), false},
		{event{Ranks: RankList{0}, Incarnation: 3, Done: &doneEvent{Run: 9}}, false},
		{event{Incarnation: 3, Probe: 5, HeldUp: true}, false},
	} {
		var got event
		if compact := passOn(t, c.sent, &got); compact != c.compact || !reflect.DeepEqual(got, c.sent) {
			t.Errorf("%+v: got %+v, compact %v", c.sent, got, compact)
		}
	}
	for _, b := range []string{"", "\x01\x02", "\x01\x02\x03\x04\xff", "\x01\x02\x00more"} {
		if err := new(event).ReadCompact([]byte(b)); err == nil {
			t.Errorf("%q is no event", b)
		}
	}
}

// passOn writes a header and reads it into got. It reports whether the header is not JSON.
func passOn(t *testing.T, header, got any) (compact bool) {
	frames, err := frame.Append(nil, header, []byte("payload"))
	if err != nil {
		t.Fatal(err)
	}
	compact = frames[8] != '{'
	if payload, err := frame.NewReader(bytes.NewReader(frames), 100).Read(got); err != nil || string(payload) != "payload" {
		t.Fatalf("%q, %v", payload, err)
	}
	return compact
}
