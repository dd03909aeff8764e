package command

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

func network() console.Command {
	return console.Command{
		Name: "net", Args: "[SETTINGS]", Yields: true, Group: devices, Where: console.TargetRanks,
		Help: `show the network between hosts: peers, messages and bytes, messages in flight
With settings, such as "delay 200us reorder on seed 7", change the treatment of messages by the null network: delay, bandwidth (bytes a
second), reorder, drop (the share of messages that are lost) and seed. Settings that are not named stay; "off" ends all of them.`,
		Run: runNet,
	}
}

// runNet prints the connections that were used or are lost, one on each line.
func runNet(ctx context.Context, c *console.Call) console.Outcome {
	answers, err := c.Inspect(ctx, session.Query{Topic: session.TopicNetwork, Arg: c.Arg})
	if err != nil {
		return c.Fail(err)
	}
	outcome := c.Reply(folded(answers, func(a session.Answer) string { return describeNetwork(a.Network) }))
	rows := [][]string{{"rank", "peer", "host", "sent", "received", "in flight", ""}}
	silent := 0
	for _, a := range answers {
		if a.Network == nil {
			continue
		}
		for _, p := range a.Network.Peers {
			if p.State == "connected" && p.MessagesSent+p.MessagesReceived == 0 {
				silent++
				continue
			}
			rows = append(rows, []string{fmt.Sprint(a.Rank), fmt.Sprint(p.Rank), fmt.Sprint(p.Host),
				traffic(p.MessagesSent, p.BytesSent), traffic(p.MessagesReceived, p.BytesReceived), fmt.Sprint(p.InFlight), p.State})
		}
	}
	if len(rows) > 1 {
		c.PrintTable(rows)
	}
	if silent > 0 {
		c.Print(count.Of(silent, "connection") + " without traffic\n")
	}
	return outcome
}

// describeNetwork describes a rank's network and its refusals.
func describeNetwork(n *session.Network) string {
	switch {
	case n == nil:
		return ""
	case n.Name == "" && n.Why == "":
		return "all ranks are on one host"
	case n.Name == "":
		return "no network: " + n.Why
	}
	text := n.Name
	for _, reason := range slices.Sorted(maps.Keys(n.Refused)) {
		if reason == "stranger" {
			text += "\n" + count.Of(n.Refused[reason], "connection") + " turned away, without the secret of this world"
			continue
		}
		text += "\n" + count.Of(n.Refused[reason], "message") + " refused: " + reason
	}
	return text
}

func traffic(messages, bytes uint64) string {
	return fmt.Sprintf("%d, %s", messages, formatBytes(int64(bytes)))
}
