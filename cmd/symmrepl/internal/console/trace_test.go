package console

import (
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

func TestTimeline(t *testing.T) {
	const ms = time.Millisecond
	l := &timeline{elapsed: 60 * ms, looks: []look{
		{10 * ms, []string{"runs", "runs"}}, {20 * ms, []string{"runs", "wait_signal"}}, {30 * ms, []string{"", "wait_signal"}}, {40 * ms, []string{"", "runs"}},
	}}
	want := "rank 0 |" + strings.Repeat("█", 20) + strings.Repeat(" ", 40) + "|\n" +
		"rank 1 |" + strings.Repeat("█", 10) + strings.Repeat("▒", 20) + strings.Repeat("█", 30) + "|\n" +
		"60ms in all: █ runs ▒ in wait_signal"
	if got := l.text(); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	svg := l.picture()
	for _, part := range []string{
		`<rect x="60.0" y="3.0" width="200.0" height="16" fill="#2a9d4a"><title>runs, 0s to 20ms</title></rect>`,
		`<rect x="160.0" y="25.0" width="200.0" height="16" fill="#3a6ea5"><title>in wait_signal, 10ms to 30ms</title></rect>`,
		`<rect x="360.0" y="25.0" width="300.0" height="16" fill="#2a9d4a"><title>runs, 30ms to 60ms</title></rect>`,
	} {
		if !strings.Contains(svg, part) {
			t.Errorf("the picture lacks %s: %s", part, svg)
		}
	}
}

func TestDoing(t *testing.T) {
	got := doing([]session.RankInfo{
		{State: "idle"}, {State: "running"}, {State: "waiting", Doing: "waits in wait_signal for rank 3: a signal on channel 0, for 1.5 s"}, {State: "dead", Doing: "x"},
	})
	if want := []string{"", "runs", "wait_signal", "dead"}; strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("%q, want %q", got, want)
	}
}
