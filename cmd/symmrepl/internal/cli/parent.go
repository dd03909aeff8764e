package cli

import (
	"os"
	"time"
)

// leaveWithParent calls leave when the parent process has ended, unless the returned function was
// called before.
func leaveWithParent(leave func()) (stop func()) {
	parent := os.Getppid()
	ticker := time.NewTicker(time.Second)
	done := make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if os.Getppid() != parent {
					leave()
					return
				}
			}
		}
	}()
	return func() { close(done) }
}
