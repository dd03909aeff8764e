//go:build ignore

// Goroutines in cells.
//
//	symmrepl run -n 4 tutorials/goroutines.go

// %% Goroutines share the work and send their results through a channel.
import "sync"

results := make(chan int)
var workers sync.WaitGroup
for i := range 4 {
	workers.Go(func() { results <- (i + 1) * (symm.Rank() + 1) })
}
go func() {
	workers.Wait()
	close(results)
}()
sum := 0
for v := range results {
	sum += v
}
sum

// %% A mutex, a counter, and a goroutine that continues during the next cell.
var mu sync.Mutex
counts := map[string]int{}
done := make(chan bool)
go func() {
	for _, word := range strings.Fields("put signal wait put signal put") {
		mu.Lock()
		counts[word]++
		mu.Unlock()
	}
	done <- true
}()

// %%
<-done
mu.Lock()
fmt.Println(counts)
mu.Unlock()

// %% A wait with a limit.
func within(limit time.Duration, ready <-chan bool) string {
	select {
	case <-ready:
		return "ready"
	case <-time.After(limit):
		return "too late"
	}
}
within(10*time.Millisecond, done)
