package command

import (
	"context"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestNet(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func(ranks []int, q session.Query) []session.Answer {
		if ranks != nil || q != (session.Query{Topic: session.TopicNetwork, Arg: "delay 200us"}) {
			t.Errorf("asked %v %+v", ranks, q)
		}
		state := func(peers ...session.NetworkPeer) *session.Network {
			return &session.Network{Name: "null, delay 200µs", Peers: peers}
		}
		silent := session.NetworkPeer{Rank: 3, Host: 1, State: "connected"}
		refusing := state(silent)
		refusing.Refused = map[string]uint64{"wrong secret": 2}
		return []session.Answer{
			{Rank: 0, Network: state(session.NetworkPeer{Rank: 2, Host: 1, State: "connected", MessagesSent: 3, BytesSent: 1536,
				InFlight: 1}, silent)},
			{Rank: 1, Network: refusing},
			{Rank: 2, Network: state(session.NetworkPeer{Rank: 0, State: "lost: connection reset", MessagesReceived: 2,
				BytesReceived: 64})},
			{Rank: 3, Err: &session.Error{Msg: "dead"}},
		}
	}
	want := `[0,2] null, delay 200µs
[1] null, delay 200µs
[1] 2 messages refused: wrong secret
[3] dead
rank  peer  host  sent        received  in flight
0     2     1     3, 1.5 KiB  0, 0 B    1          connected
2     0     0     0, 0 B      2, 64 B   0          lost: connection reset
2 connections without traffic
`
	if outcome := c.Run(context.Background(), ":net delay 200us"); outcome != console.Failed || out.String() != want {
		t.Errorf("%v, printed\n%swant\n%s", outcome, out, want)
	}
}

func TestNetOfOneHost(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func([]int, session.Query) []session.Answer {
		return []session.Answer{{Rank: 0, Network: &session.Network{}}, {Rank: 1, Network: &session.Network{Why: "UCX was not found"}},
			{Rank: 2, Network: &session.Network{}}, {Rank: 3, Network: &session.Network{}}}
	}
	if c.Run(context.Background(), ":net"); out.String() != "[0,2,3] all ranks are on one host\n[1] no network: UCX was not found\n" {
		t.Errorf("%s", out)
	}
}
