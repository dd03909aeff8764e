// Package trace records when the operations of a rank run on its device, for which ranks they wait,
// and how long the calls on the host take.
//
// Each stream is replaced by one that names the call whose work it passes on. A device that records
// its activities itself (device.Recorder) then tells when each kernel, copy and wait of the call
// ran. For other devices the stream puts an event before and after the work of a call, and a
// goroutine looks at the page of waits from time to time. The package knows streams and calls by
// their numbers. Its owner passes the call that issues work, the place in the program, and the
// ranks for which a call waits.
package trace
