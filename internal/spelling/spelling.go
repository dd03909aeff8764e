// Package spelling finds what a word that means nothing may have been meant to be.
package spelling

import (
	"slices"
	"strings"
)

// Most is how many words Similar returns at most.
const Most = 3

// Fold returns a word without what conventions of naming differ in: case and underscores. It is the same for AllReduce and all_reduce.
func Fold(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "")) }

// Similar returns those of names that are closest to name, if they are close: the same but for case and underscores, or other by a few letters, or short for it, as
// F32 is for Float32.
func Similar(name string, names []string) []string {
	var found []string
	for _, n := range names {
		if n != name && Fold(n) == Fold(name) {
			found = append(found, n)
		}
	}
	if len(found) > 0 {
		return unique(found)
	}
	best := min(len(name)/3, 3) // letters that may differ
	for _, n := range names {
		if n == name || len(n) < 2 {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(n))
		switch {
		case d >= best+1 || d >= len(n):
		case d < best || len(found) == 0 && d == best:
			found, best = []string{n}, d
		case d == best:
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		for _, n := range names {
			if isShort(strings.ToLower(n), strings.ToLower(name)) {
				found = append(found, n)
			}
		}
	}
	found = unique(found)
	return found[:min(len(found), Most)]
}

// isShort reports whether short ends in the same number as long, begins with the same letter, and has only letters that follow there in this order.
func isShort(short, long string) bool {
	const digits = "0123456789"
	letters, rest := strings.TrimRight(short, digits), strings.TrimRight(long, digits)
	if letters == "" || letters == short || short[len(letters):] != long[len(rest):] || letters[0] != rest[0] {
		return false
	}
	for _, c := range letters {
		_, after, ok := strings.Cut(rest, string(c))
		if !ok {
			return false
		}
		rest = after
	}
	return true
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// distance is the number of letters to change, leave out, add or swap with their neighbours that makes b of a.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	var before []int // the row before last
	last := make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row := make([]int, len(t)+1)
		row[0] = i + 1
		for j := range t {
			change := last[j]
			if s[i] != t[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(t)]
}
