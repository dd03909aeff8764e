package places

import (
	"fmt"
	"strings"
)

// Joined writes a list of ranks: "0,2".
func Joined(ranks []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ","), "[]")
}

// Spelled writes several lists of ranks: "0,1 and 2,3".
func Spelled(lists [][]int) string {
	words := make([]string, len(lists))
	for i, ranks := range lists {
		words[i] = Joined(ranks)
	}
	if len(words) == 1 {
		return words[0]
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:len(words)-1], "; "), words[len(words)-1])
}
