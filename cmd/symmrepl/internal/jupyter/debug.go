package jupyter

import (
	"context"
	"fmt"
	"os"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/zmtp"
)

const (
	debugRequests = 256 // that wait for their turn; more are dropped, as no front end sends them
	maxDebug      = 4 << 20
)

// takeDebug takes a debug request. Another goroutine answers it, because the answer may wait for the
// session while interrupts come by the same channel.
func (k *Kernel) takeDebug(channel *zmtp.Router, r *request) {
	r.channel = channel
	select {
	case k.debug <- r:
	default:
		fmt.Fprintln(os.Stderr, "symmrepl: a debug request is ignored: too many wait for an answer")
	}
}

// answerDebug answers debug requests, one after another.
func (k *Kernel) answerDebug(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-k.debug:
			k.asks.Store(r)
			k.status(r, "busy")
			if len(r.content) > maxDebug {
				r.content = nil
			}
			answering, ended := k.debugging(ctx)
			k.send(r.channel, r, "debug_reply", k.lab.Answer(answering, r.content, k.console))
			ended()
			k.status(r, "idle")
		}
	}
}

// console waits for the session and returns the console on it.
func (k *Kernel) console(ctx context.Context) (*console.Console, error) {
	select {
	case <-k.opened:
		return k.ready()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// debugEvent publishes an event of the debugger, as a consequence of the latest debug request.
func (k *Kernel) debugEvent(e dap.EventMessage) { k.publish(k.asks.Load(), "debug_event", e) }
