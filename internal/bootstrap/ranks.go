package bootstrap

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatRanks writes an ascending list of ranks with runs shortened: "0-3", "0,2", "0-2,5".
func FormatRanks(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(ranks[i]))
		if j > i {
			b.WriteByte(",-"[min(j-i, 2)-1])
			b.WriteString(strconv.Itoa(ranks[j]))
		}
		i = j + 1
	}
	return b.String()
}

// parseRanks reads a list in the form of FormatRanks, for a world of size ranks. It does not check
// the order.
func parseRanks(text string, size int) (ranks []int, err error) {
	if text == "" {
		return nil, nil
	}
	for _, item := range strings.Split(text, ",") {
		low, high, err := rankRange(item)
		if err != nil {
			return nil, err
		}
		if high >= size || len(ranks) > size {
			return nil, fmt.Errorf("[%s] is not an ascending list of ranks below %d", strings.ReplaceAll(text, ",", " "), size)
		}
		for r := low; r <= high; r++ {
			ranks = append(ranks, r)
		}
	}
	return ranks, nil
}
