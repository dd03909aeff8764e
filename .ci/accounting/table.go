package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// entry is the time of one stage.
type entry struct {
	stage              string
	wall, user, system time.Duration
}

func (e entry) appendTo(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s\t%.2f\t%.2f\t%.2f\n", e.stage, e.wall.Seconds(), e.user.Seconds(), e.system.Seconds())
	return err
}

// read returns the entries of a file in their order. Entries of the same stage become one.
func read(file string) ([]entry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var entries []entry
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		stage, times, _ := strings.Cut(lines.Text(), "\t")
		var wall, user, system float64
		if _, err := fmt.Sscanf(times, "%f\t%f\t%f", &wall, &user, &system); err != nil || stage == "" {
			return nil, fmt.Errorf("%s:%d: want a stage and three times, got %q", file, n, lines.Text())
		}
		at := slices.IndexFunc(entries, func(e entry) bool { return e.stage == stage })
		if at < 0 {
			at = len(entries)
			entries = append(entries, entry{stage: stage})
		}
		entries[at].add(entry{wall: seconds(wall), user: seconds(user), system: seconds(system)})
	}
	return entries, lines.Err()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// small is the processor time below which stages share a line.
const small = time.Second

// compare prints the entries of the first file as a table, those with the most processor time first,
// and beside them those of the second file, if there is one. Small entries are summed up in one line.
func compare(w io.Writer, files []string) error {
	now, err := read(files[0])
	if err != nil {
		return err
	}
	older, others, olders := map[string]entry{}, entry{}, entry{}
	if len(files) > 1 {
		list, err := read(files[1])
		if err != nil {
			return err
		}
		for _, e := range list {
			older[e.stage] = e
			if !slices.ContainsFunc(now, func(n entry) bool { return n.stage == e.stage }) {
				now = append(now, entry{stage: e.stage})
			}
		}
	}
	slices.SortStableFunc(now, func(a, b entry) int { return int(b.user + b.system - a.user - a.system) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	heading := "wall s\tuser s\tsystem s\t"
	if len(files) > 1 {
		heading = strings.Repeat(heading, 2)
	}
	fmt.Fprintln(t, heading+" stage")
	line := func(name string, e, old entry) {
		fmt.Fprint(t, e.cells())
		if len(files) > 1 {
			fmt.Fprint(t, old.cells())
		}
		fmt.Fprintln(t, " "+name)
	}
	n := 0
	for _, e := range now {
		old := older[e.stage]
		if e.user+e.system < small && old.user+old.system < small {
			n++
			others.add(e)
			olders.add(old)
			continue
		}
		line(e.stage, e, old)
	}
	if n > 0 {
		line(fmt.Sprintf("%d others, each below %v of processor time", n, small), others, olders)
	}
	return t.Flush()
}

func (e *entry) add(o entry) {
	e.wall, e.user, e.system = e.wall+o.wall, e.user+o.user, e.system+o.system
}

func (e entry) cells() string {
	return fmt.Sprintf("%.1f\t%.1f\t%.1f\t", e.wall.Seconds(), e.user.Seconds(), e.system.Seconds())
}
