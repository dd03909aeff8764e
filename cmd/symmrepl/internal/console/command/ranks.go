package command

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func ranks() console.Command {
	return console.Command{
		Name: "ranks", Group: devices, Where: console.TheSession, WhileStopped: true,
		Help: `show the rank processes: host, process id, device, state, memory
The state is idle, running, waiting (with the awaited event), stopped, starting or dead. "Start" counts the workers that this
rank has had: 1 for the first, one more for each replacement. After the name of the host stands the simulated host, if
there are such: see symmrepl --hosts. After the name of a GPU stand the other ranks that use it. A call into compiled code that an interrupted cell has left
behind is shown until it returns.
With more than 16 ranks, ranks that are alike share a row, with the memory of the largest.`,
		Run: runRanks,
	}
}

func runRanks(ctx context.Context, c *console.Call) console.Outcome {
	infos, err := c.Console.Session.Ranks(ctx)
	if err != nil {
		return c.Fail(err)
	}
	if len(infos) > foldFrom {
		c.PrintTable(foldedRanks(infos))
		return console.Done
	}
	rows := [][]string{{"rank", "host", "pid", "start", "memory", "state", "device", ""}}
	for _, r := range infos {
		rows = append(rows, []string{
			fmt.Sprint(r.Rank), r.Host, fmt.Sprint(r.PID), fmt.Sprint(r.Incarnation),
			formatBytes(r.RSS), r.State, deviceOf(r), r.Doing,
		})
	}
	c.PrintTable(rows)
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

// foldFrom is the number of ranks above which similar ranks share a row.
const foldFrom = 16

// deviceNumber is the number of a device on its host.
var deviceNumber = regexp.MustCompile(`^(\w+):\d+`)

// alike holds the properties that ranks of one row share.
type alike struct {
	start                int
	state, device, doing string
}

// foldedRanks returns the table of many ranks.
func foldedRanks(infos []session.RankInfo) [][]string {
	groups := map[alike][]session.RankInfo{}
	var order []alike // by their first ranks
	for _, r := range infos {
		key := alike{r.Incarnation, r.State, deviceNumber.ReplaceAllString(r.Device, "$1"), r.Doing}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	rows := [][]string{{"rank", "host", "pid", "start", "memory", "state", "device", ""}}
	for _, key := range order {
		group := groups[key]
		var ranks []int
		var largest int64
		hosts := map[string]bool{}
		for _, r := range group {
			ranks, largest, hosts[r.Host] = append(ranks, r.Rank), max(largest, r.RSS), true
		}
		host, pid, device := group[0].Host, "", key.device
		if len(hosts) > 1 {
			host = fmt.Sprintf("%d hosts", len(hosts))
		}
		if len(group) == 1 {
			pid, device = fmt.Sprint(group[0].PID), group[0].Device
		}
		rows = append(rows, []string{session.FormatRanks(ranks), host, pid, fmt.Sprint(key.start), formatBytes(largest),
			key.state, device, key.doing})
	}
	return rows
}
