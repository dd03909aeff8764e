package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// particular matches the parts of an error's text that differ between ranks that made the same
// mistake: ranks, after the word, times, addresses, and the positions of blocks and threads.
var particular = regexp.MustCompile(`\branks? [0-9][0-9,-]*|\b0x[0-9a-f]+\b|\b[0-9]+(\.[0-9]+)?(ms|µs|s)\b|` +
	`\b(block|thread) \[[0-9]+ [0-9]+ [0-9]+\]`)

// Alike joins errors that differ only in ranks, times, addresses, blocks and threads. The joined
// text lists the reporting ranks, the ranks that each of them names, in the same order, the longest
// of the times, and the addresses, blocks and threads, of many the first and the last:
//
//	[0-3] cell[5]:2:1: wait_signal: rank 0-3 waited 401ms for a signal of rank 3,0,1,2 on channel 0, which never came
func Alike(errs []*session.Error) []*session.Error {
	var groups [][]*session.Error
	at := map[string]int{}
	for _, e := range errs {
		key := fmt.Sprint(e.Kind, e.Op, e.File, e.Line, e.Column, e.Source, e.Fatal, "\n", blanked(e.Msg), "\n", blanked(e.Hint))
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	var out []*session.Error
	for _, g := range groups {
		out = append(out, joined(g))
	}
	for i, e := range out { // the detail that several errors share is shown with the last of them
		if e.Detail != "" && slices.ContainsFunc(out[i+1:], func(o *session.Error) bool { return o.Detail == e.Detail }) {
			once := *e
			once.Detail, out[i] = "", &once
		}
	}
	return out
}

// blanked returns a text without its particular parts.
func blanked(text string) string {
	return particular.ReplaceAllStringFunc(text, func(found string) string {
		if isAddress(found) {
			return "\x00x"
		}
		if word, _, hasWord := strings.Cut(found, " "); hasWord {
			return word + " \x00"
		}
		return "\x00s"
	})
}

// joined joins errors that are alike. It keeps the first detail.
func joined(errs []*session.Error) *session.Error {
	if len(errs) == 1 {
		return errs[0]
	}
	byRank := map[int]*session.Error{}
	all := *errs[0]
	all.Ranks = nil
	for _, e := range errs {
		for _, r := range e.Ranks {
			byRank[r], all.Ranks = e, append(all.Ranks, r)
		}
	}
	slices.Sort(all.Ranks)
	var messages, hints []string
	for _, r := range all.Ranks {
		messages, hints = append(messages, byRank[r].Msg), append(hints, byRank[r].Hint)
	}
	all.Msg, all.Hint = joinedText(messages, all.Ranks), joinedText(hints, all.Ranks)
	return &all
}

// joinedText joins the texts of ranks, which differ only in their particular parts.
func joinedText(texts []string, ranks []int) string {
	columns := make([][]string, len(particular.FindAllString(texts[0], -1)))
	for _, text := range texts {
		for i, found := range particular.FindAllString(text, -1) {
			columns[i] = append(columns[i], found)
		}
	}
	return particular.ReplaceAllStringFunc(texts[0], func(string) string {
		column := columns[0]
		columns = columns[1:]
		return joinedColumn(column, ranks)
	})
}

// joinedColumn joins the strings at one place of the texts: times, addresses, or ranks, blocks or
// threads after their word.
func joinedColumn(column []string, ranks []int) string {
	if isAddress(column[0]) {
		return listed(column)
	}
	word, _, hasWord := strings.Cut(column[0], " ")
	switch {
	case !hasWord:
		return slices.MaxFunc(column, func(a, b string) int { return int(duration(a) - duration(b)) })
	case word == "block", word == "thread":
		var positions []string
		for _, found := range column {
			positions = append(positions, strings.TrimPrefix(found, word+" "))
		}
		return word + " " + listed(positions)
	}
	own, same, list := true, true, ""
	for i, found := range column {
		_, named, _ := strings.Cut(found, " ")
		own = own && named == fmt.Sprint(ranks[i])
		same = same && found == column[0]
		if i > 0 {
			list += ","
		}
		if strings.ContainsAny(named, ",-") {
			named = "(" + named + ")"
		}
		list += named
	}
	switch {
	case same:
		return column[0]
	case own:
		return word + " " + session.FormatRanks(ranks)
	}
	return word + " " + list
}

func isAddress(text string) bool { return strings.HasPrefix(text, "0x") }

// listed lists the addresses or positions of ranks, in their order, of many the first and the last.
func listed(list []string) string {
	const most = 4
	switch {
	case len(slices.Compact(slices.Clone(list))) == 1:
		return list[0]
	case len(list) > most:
		return list[0] + ",…," + list[len(list)-1]
	}
	return strings.Join(list, ",")
}

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}
