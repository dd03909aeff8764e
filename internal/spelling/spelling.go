// Package spelling finds known words that are similar to an unknown one.
package spelling

import (
	"slices"
	"strings"
)

// Most is the maximum number of words that Similar returns.
const Most = 3

// Fold returns a word in lower case and without underscores, in which naming conventions differ.
// The result is the same for AllReduce and all_reduce.
func Fold(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "")) }

// Similar returns the names that are closest to name, if they are close: they differ only in case
// and underscores, or in a few letters, or one is short for the other, as F32 for Float32.
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
	best := min(len(name)/3, 3) // number of letters that may differ
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

// isShort reports whether short is short for long: both end in the same number and begin with the
// same letter, and the letters of short occur in long in the same order.
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

// distance returns the number of edits that turn a into b: letters changed, removed, added or
// swapped with their neighbours.
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
