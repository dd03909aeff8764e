package inband

import (
	"fmt"
	"html"
	"slices"
	"time"
)

// Steps is the state of a progress bar.
type Steps struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// maxLeft bounds the estimates of a bar.
const maxLeft = 10000 * time.Hour

// Times returns the time that a bar has taken for its steps from the step begin on, and an estimate
// of the rest: "0:12, 0:30 left". It returns "" for less than a second.
func (s Steps) Times(begin int, taken time.Duration) string {
	if taken < time.Second {
		return ""
	}
	text := minutes(taken)
	if made := s.Done - begin; made > 0 && s.Done < s.Total {
		left := taken.Seconds() / float64(made) * float64(s.Total-s.Done)
		if left > maxLeft.Seconds() {
			return text
		}
		text += ", " + minutes(time.Duration(left*float64(time.Second))) + " left"
	}
	return text
}

// minutes formats a time as 0:05, or 1:00:05.
func minutes(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// bars holds the progress bars of ranks by their IDs. Ranks do not print the times of their bars: the
// bars of ranks that make the same progress would differ. The zero value is ready.
type bars map[string]*bar

type bar struct {
	began   time.Time
	begin   int                   // steps that were done then
	ranks   []int                 // that have shown it
	reached map[int]time.Duration // by steps: when the first rank had done them
}

// maxReached bounds bar.reached, for a bar that goes back and forth.
const maxReached = 1000

// addTimes appends the time taken to the forms of a progress bar that ranks show now. Ranks that
// reach a step at about the same time get the same text.
func (b *bars) addTimes(d *Display, ranks []int, now time.Time) {
	known := (*b)[d.ID]
	again := known != nil && !d.Update && slices.ContainsFunc(ranks, func(r int) bool { return slices.Contains(known.ranks, r) })
	if known == nil || again {
		if *b == nil {
			*b = bars{}
		}
		known = &bar{began: now, begin: d.Steps.Done, reached: map[int]time.Duration{}}
		(*b)[d.ID] = known
	}
	for _, r := range ranks {
		if !slices.Contains(known.ranks, r) {
			known.ranks = append(known.ranks, r)
		}
	}
	taken := now.Sub(known.began)
	if first, ok := known.reached[d.Steps.Done]; ok && taken-first < max(time.Second, first/10) {
		taken = first
	} else {
		if len(known.reached) >= maxReached {
			clear(known.reached)
		}
		known.reached[d.Steps.Done] = taken
	}
	d.append(d.Steps.Times(known.begin, taken))
}

// append appends text to the forms of a display, if it is not empty.
func (d *Display) append(text string) {
	if text == "" {
		return
	}
	for kind, form := range map[string]string{"text/plain": text, "text/html": html.EscapeString(text)} {
		if before, ok := d.Data[kind].(string); ok {
			d.Data[kind] = before + ", " + form
		}
	}
}
