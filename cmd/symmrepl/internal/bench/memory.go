package bench

import (
	"bytes"
	"fmt"
	"os"
)

// ownMemory returns the resident memory of this process in bytes.
func ownMemory() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, resident int64
	if _, err := fmt.Fscan(bytes.NewReader(text), &size, &resident); err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return resident * int64(os.Getpagesize()), nil
}
