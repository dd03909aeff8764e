package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

func ranks() console.Command {
	return console.Command{
		Name: "ranks", Group: devices, Where: console.TheSession,
		Help: `show the rank processes: host, process id, device, state, memory
The state is idle, running, waiting (with what for), stopped, starting or dead. "Start" counts the workers this rank has
had: 1 for the first, one more each time it was replaced. After the name of the host stands which simulated one it is, if
there are such: see symmrepl --hosts. After the name of a GPU stand the other ranks that use it. A call into compiled code that an interrupted cell has left
behind is shown until it returns.`,
		Run: runRanks,
	}
}

func runRanks(ctx context.Context, c *console.Call) console.Outcome {
	infos, err := c.Console.Session.Ranks(ctx)
	if err != nil {
		return c.Fail(err)
	}
	rows := [][]string{{"rank", "host", "pid", "start", "memory", "state", "device", ""}}
	for _, r := range infos {
		rows = append(rows, []string{
			fmt.Sprint(r.Rank), r.Host, fmt.Sprint(r.PID), fmt.Sprint(r.Incarnation),
			formatBytes(r.RSS), r.State, deviceOf(r), r.Doing,
		})
	}
	c.Print(render.Table(rows))
	return console.Done
}

// deviceOf names a rank's device, and the other ranks that use it: "cuda:0 with 1-3".
func deviceOf(r session.RankInfo) string {
	others := slices.DeleteFunc(slices.Clone(r.Sharers), func(o int) bool { return o == r.Rank })
	if len(others) == 0 {
		return r.Device
	}
	return r.Device + " with " + session.FormatRanks(others)
}
