package console

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

const (
	traceEvery = 2 * time.Millisecond // between looks at what the ranks do
	traceWidth = 60                   // characters of a bar
)

const traceHelp = `run a cell and show what each rank did meanwhile
A bar for each rank shows when it ran, when it waited in which operation, and when it was done. The ranks are looked at every few
milliseconds, so that what is shorter may be missed.`

// trace runs a cell and shows its timeline.
func (c *Console) trace(ctx context.Context, code string) Outcome {
	t := &timeline{c: c, begin: time.Now(), over: make(chan struct{}), done: make(chan struct{})}
	go t.watch(ctx)
	_, result := c.eval(ctx, session.Cell{Source: code})
	t.elapsed = time.Since(t.begin)
	close(t.over)
	<-t.done
	if len(t.looks) == 0 {
		c.Printer.Print(fmt.Sprintf("the cell was done after %v, before the ranks could be looked at", t.elapsed.Round(time.Microsecond)))
		return result
	}
	c.Printer.Reply(session.Reply{Values: []session.Value{{Text: t.text(), Data: map[string]any{"image/svg+xml": t.picture()}}}})
	return result
}

// timeline is what ranks were seen to do while a cell ran.
type timeline struct {
	c       *Console
	begin   time.Time
	elapsed time.Duration
	looks   []look
	over    chan struct{} // closed when the cell is done
	done    chan struct{} // closed when no look is added any more
}

// look is what ranks did at a moment: "" is done, "runs", or an operation that a rank waits in.
type look struct {
	at    time.Duration
	doing []string
}

// watch looks at the ranks until the cell is over.
func (t *timeline) watch(ctx context.Context) {
	defer close(t.done)
	for {
		infos, err := t.c.Session.Ranks(ctx)
		at := time.Since(t.begin)
		select {
		case <-t.over:
			return
		default:
		}
		if err == nil {
			t.looks = append(t.looks, look{at, doing(infos)})
		}
		select {
		case <-t.over:
			return
		case <-time.After(traceEvery):
		}
	}
}

// operation is the name that RankInfo.Doing of a rank that waits begins with, after "waits in".
var operation = regexp.MustCompile(`^[^ ,:;]*`)

func doing(infos []session.RankInfo) []string {
	out := make([]string, len(infos))
	for i, r := range infos {
		switch r.State {
		case "running":
			out[i] = "runs"
		case "waiting":
			out[i] = operation.FindString(strings.TrimPrefix(r.Doing, "waits in "))
		case "idle":
		default:
			out[i] = r.State
		}
	}
	return out
}

// span is a time during which a rank did the same.
type span struct {
	from, to time.Duration
	doing    string
}

// spans puts together what one rank was seen to do. A look stands for the time since the one before.
func (t *timeline) spans(rank int) []span {
	var out []span
	var from time.Duration
	for i, l := range t.looks {
		to := l.at
		if i == len(t.looks)-1 {
			to = t.elapsed
		}
		if n := len(out); n > 0 && out[n-1].doing == l.doing[rank] {
			out[n-1].to = to
		} else {
			out = append(out, span{from, to, l.doing[rank]})
		}
		from = to
	}
	return out
}

// kinds lists what ranks did, running first.
func (t *timeline) kinds() []string {
	kinds := []string{"runs"}
	for _, l := range t.looks {
		for _, d := range l.doing {
			if d != "" && !slices.Contains(kinds, d) {
				kinds = append(kinds, d)
			}
		}
	}
	return kinds
}

// marks are the letters of the bars in text, by kind.
const marks = "█▒░▓abcdefgh"

// text is a bar of characters for each rank, and what they stand for.
func (t *timeline) text() string {
	kinds, letters := t.kinds(), []rune(marks)
	var b strings.Builder
	for rank := range t.looks[0].doing {
		bar := []rune(strings.Repeat(" ", traceWidth))
		for _, s := range t.spans(rank) {
			if s.doing == "" {
				continue
			}
			letter := letters[min(slices.Index(kinds, s.doing), len(letters)-1)]
			for i := t.column(s.from); i < max(t.column(s.to), t.column(s.from)+1) && i < traceWidth; i++ {
				bar[i] = letter
			}
		}
		fmt.Fprintf(&b, "rank %d |%s|\n", rank, string(bar))
	}
	fmt.Fprintf(&b, "%v in all:", t.elapsed.Round(10*time.Microsecond))
	for i, kind := range kinds {
		fmt.Fprintf(&b, " %c %s", letters[min(i, len(letters)-1)], legend(kind))
	}
	return b.String()
}

func (t *timeline) column(at time.Duration) int {
	return int(int64(at) * traceWidth / max(int64(t.elapsed), 1))
}

func legend(kind string) string {
	if kind == "runs" {
		return kind
	}
	return "in " + kind
}

// picture is an SVG of the same.
func (t *timeline) picture() string {
	const width, row, left = 600.0, 22.0, 60.0
	kinds := t.kinds()
	ranks := len(t.looks[0].doing)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="12">`,
		width+left+10, row*float64(ranks+1+len(kinds)))
	x := func(at time.Duration) float64 { return left + width*float64(at)/float64(max(t.elapsed, 1)) }
	for rank := range ranks {
		y := row * float64(rank)
		fmt.Fprintf(&b, `<text x="4" y="%.1f" fill="#888888">rank %d</text>`, y+15, rank)
		for _, s := range t.spans(rank) {
			if s.doing == "" {
				continue
			}
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="16" fill="%s"><title>%s, %v to %v</title></rect>`, x(s.from), y+3, x(s.to)-x(s.from),
				colours[slices.Index(kinds, s.doing)%len(colours)], escape(legend(s.doing)), s.from.Round(10*time.Microsecond), s.to.Round(10*time.Microsecond))
		}
	}
	y := row * float64(ranks)
	fmt.Fprintf(&b, `<text x="%g" y="%.1f" fill="#888888">0</text><text x="%g" y="%.1f" text-anchor="end" fill="#888888">%v</text>`,
		left, y+15, left+width, y+15, t.elapsed.Round(10*time.Microsecond))
	for i, kind := range kinds {
		y := row * float64(ranks+1+i)
		fmt.Fprintf(&b, `<rect x="%g" y="%.1f" width="14" height="14" fill="%s"/><text x="%g" y="%.1f" fill="#888888">%s</text>`,
			left, y+2, colours[i%len(colours)], left+20, y+14, escape(legend(kind)))
	}
	b.WriteString("</svg>")
	return b.String()
}

func escape(s string) string { return html.EscapeString(s) }
