package command

import (
	"context"
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// If there are many ranks, equal ones share a row.
func TestRankTableOfMany(t *testing.T) {
	c, fake, out := newConsole()
	for r := range 1024 {
		fake.Infos = append(fake.Infos, session.RankInfo{Rank: r, Host: fmt.Sprint("h", r/8), PID: 100 + r,
			Device: fmt.Sprintf("cuda:%d NVIDIA H200", r%8), Incarnation: 1, State: "waiting",
			Doing: "waits in barrier for rank 1023", RSS: int64(r) << 20})
	}
	fake.Infos[1023].State, fake.Infos[1023].Doing = "running", ""
	fake.Infos[512].Incarnation = 2
	c.Run(context.Background(), ":ranks")
	want := `rank            host       pid   start  memory      state    device
0-511,513-1022  128 hosts        1      1022.0 MiB  waiting  cuda NVIDIA H200    waits in barrier for rank 1023
512             h64        612   2      512.0 MiB   waiting  cuda:0 NVIDIA H200  waits in barrier for rank 1023
1023            h127       1123  1      1023.0 MiB  running  cuda:7 NVIDIA H200
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}

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
