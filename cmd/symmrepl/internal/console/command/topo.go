package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func topo() console.Command {
	return console.Command{
		Name: "topo", Group: devices, Where: console.TargetRanks,
		Help: `show the links between the devices of the ranks, in a notebook as a picture
Between ranks of different hosts, and of GPUs that cannot map each other's memory, it names the network; for ranks that share a GPU, it
shows whether their kernels run in turns or side by side.`,
		Run: runTopo,
	}
}

// runTopo prints a table and a picture if the links between all ranks are known, else each rank's
// links as text.
func runTopo(ctx context.Context, c *console.Call) console.Outcome {
	answers, err := c.Inspect(ctx, session.Query{Topic: session.TopicTopo})
	if err != nil {
		return c.Fail(err)
	}
	reply := folded(answers, func(a session.Answer) string { return describeTopology(a.Topology) })
	if l := linksOf(answers); l != nil && len(reply.Errors) == 0 {
		reply.Values = []session.Value{{Ranks: l.ranks, Text: l.table(), Data: forms(l.picture())}}
	}
	return c.Reply(reply)
}

// describeTopology lists the connections of a rank's device, one on each line.
func describeTopology(t *session.Topology) string {
	var lines []string
	switch {
	case t == nil:
		return ""
	case t.Medium != "":
		return t.Device + ": " + t.Medium
	case len(t.Links) == 0:
		lines = append(lines, "the only GPU of the host")
	}
	if t.Sharers != nil {
		lines = append(lines, fmt.Sprintf("shared by the ranks %s, whose kernels run %s", session.FormatRanks(t.Sharers), t.Manner))
	}
	for _, l := range t.Links {
		lines = append(lines, fmt.Sprintf("GPU %d of the host (%s, %s): %s", l.Index, l.Name, l.ID, l))
	}
	return strings.Join(lines, "\n")
}
