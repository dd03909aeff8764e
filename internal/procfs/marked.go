package procfs

import (
	"bytes"
	"fmt"
	"os"
)

// Marked lists the processes in whose first environment a variable is set, by its value. It cannot see
// those of other users.
func Marked(variable string) map[string][]int {
	list := map[string][]int{}
	for _, pid := range Processes() {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		_, rest, found := bytes.Cut(append([]byte{0}, environ...), []byte("\x00"+variable+"="))
		if found {
			mark, _, _ := bytes.Cut(rest, []byte{0})
			list[string(mark)] = append(list[string(mark)], pid)
		}
	}
	return list
}
