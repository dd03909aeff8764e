package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestRankTable(t *testing.T) {
	c, fake, out := newConsole()
	fake.Infos = []session.RankInfo{
		{Rank: 0, Host: "a", PID: 10, Device: "cpu:0", Incarnation: 1, State: "idle", RSS: 100},
		{Rank: 1, Host: "a", PID: 11, Device: "cpu:1", Incarnation: 2, State: "waiting", Doing: "wait_signal", RSS: 3 << 19},
		{Rank: 2, Host: "a", PID: 12, Device: "cuda:0", Sharers: []int{2, 3, 4, 5}, Incarnation: 1, State: "idle", RSS: 100},
	}
	c.Run(context.Background(), ":ranks")
	want := `rank  host  pid  start  memory   state    device
0     a     10   1      100 B    idle     cpu:0
1     a     11   2      1.5 MiB  waiting  cpu:1            wait_signal
2     a     12   1      100 B    idle     cuda:0 with 3-5
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}
