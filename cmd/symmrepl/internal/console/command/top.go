package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func top() console.Command {
	return console.Command{
		Name: "top", Args: "[-d SECONDS] [-n TIMES]", Group: devices, Where: console.TargetRanks, WhileStopped: true,
		Help: `show memory and utilisation of every rank's device
With -d again and again, in place: every so many seconds, until it is interrupted; -n ends it after so many times, a second apart unless -d says otherwise. In
a notebook other cells run meanwhile, and an interrupt while none runs ends it.`,
		Run: runTop,
	}
}

// The bounds of the arguments of `:top`.
const (
	topFastest = 100 * time.Millisecond
	topSlowest = time.Hour
)

func runTop(ctx context.Context, c *console.Call) console.Outcome {
	every, times, err := topArguments(c.Arg)
	if err != nil {
		return c.Fail(err)
	}
	q := session.Query{Topic: session.TopicTop}
	if every == 0 {
		return showText(ctx, c, q)
	}
	c.Live(ctx, func(ctx context.Context, ends string, show func(string)) {
		var text string
		for n := 1; ; n++ {
			answers, err := c.Inspect(ctx, q)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				show(strings.TrimPrefix(text+"\n"+err.Error(), "\n"))
				return
			default:
				text = prefixed(folded(answers, func(a session.Answer) string { return a.Text }), c.Console.Size)
			}
			if n == times || ctx.Err() != nil {
				show(text)
				return
			}
			show(text + "\n" + topFooter(n, times, every, ends))
			select {
			case <-time.After(every):
			case <-ctx.Done():
			}
		}
	})
	return console.OutcomeOf(session.Reply{})
}

// topFooter returns the line below the text: the number of times that the text was shown, and the
// keys that end it.
func topFooter(n, times int, every time.Duration, ends string) string {
	of := ""
	if times > 0 {
		of = fmt.Sprintf(" of %d", times)
	}
	return fmt.Sprintf("(%d%s, every %v; %s ends it)", n, of, every, ends)
}

// topArguments reads the arguments: the pause, 0 if the text is shown once, and how often, 0 without
// end.
func topArguments(arg string) (every time.Duration, times int, err error) {
	words := strings.Fields(arg)
	for len(words) > 0 {
		if len(words) == 1 || words[0] != "-d" && words[0] != "-n" {
			return 0, 0, fmt.Errorf("%s is neither -d SECONDS nor -n TIMES", strings.Join(words, " "))
		}
		switch words[0] {
		case "-d":
			seconds, err := strconv.ParseFloat(words[1], 64)
			if err != nil || !(seconds >= topFastest.Seconds() && seconds <= topSlowest.Seconds()) {
				return 0, 0, fmt.Errorf("-d needs %v to %v seconds, not %q", topFastest.Seconds(), topSlowest.Seconds(), words[1])
			}
			every = time.Duration(seconds * float64(time.Second))
		case "-n":
			if times, err = strconv.Atoi(words[1]); err != nil || times < 1 {
				return 0, 0, fmt.Errorf("-n needs a positive number, not %q", words[1])
			}
		}
		words = words[2:]
	}
	if times > 0 && every == 0 {
		every = time.Second
	}
	return every, times, nil
}

// prefixed returns the values and errors of a reply as text, with the ranks before each line.
func prefixed(reply session.Reply, size int) string {
	var b strings.Builder
	add := func(ranks []int, text string) {
		for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
			b.WriteString(session.Prefix(ranks, size) + line)
		}
	}
	for _, v := range reply.Values {
		add(v.Ranks, v.Text)
	}
	for _, e := range reply.Errors {
		add(e.Ranks, e.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
