package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestTraceCommand(t *testing.T) {
	c, fake, out := newConsole()
	var asked []string
	traces := tracesOfTwo()
	fake.OnInspect = func(_ []int, q session.Query) (answers []session.Answer) {
		asked = append(asked, fmt.Sprint(q.Topic, " after ", len(fake.Cells)))
		for rank := range 2 {
			a := session.Answer{Rank: rank}
			if trace, ok := traces[rank]; ok && q.Topic == session.TopicStopTrace {
				a.Trace = &trace
			}
			answers = append(answers, a)
		}
		return answers
	}
	if c.Run(t.Context(), ":trace h.Barrier(0)") != console.Done || out.String() != timelineOfTwo+"\n" {
		t.Errorf("%s", out)
	}
	if got := strings.Join(asked, ", "); got != "start trace after 0, stop trace after 1" || fake.Cells[0].Source != "h.Barrier(0)" {
		t.Error(got)
	}
	out.Reset()
	traces = nil
	if c.Run(t.Context(), ":trace 1+1") != console.Done || out.String() != "the cell called no operation on a device\n" {
		t.Errorf("%s", out)
	}
}
