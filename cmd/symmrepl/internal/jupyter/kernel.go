package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/debugadapter"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/widget"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/zmtp"
)

// Kernel answers the front ends of one connection.
type Kernel struct {
	version   string // of the program
	signer    *signer
	session   string
	shell     *zmtp.Router
	control   *zmtp.Router
	stdin     *zmtp.Router
	iopub     *zmtp.Publisher
	heartbeat *zmtp.Echo

	open    Open
	opened  chan struct{} // closed when current is set
	current atomic.Pointer[attempt]

	queue   *queue
	history history
	widgets *widget.Manager

	lab   *debugadapter.Lab
	debug chan *request           // debug requests, for one goroutine
	asks  atomic.Pointer[request] // the latest of them

	mu        sync.Mutex
	count     int                // numbered entries so far
	stop      *interrupt         // of the current entry; nil if there is none
	stopDebug context.CancelFunc // of the debug request that is being answered; nil if there is none
	answers   chan<- string      // takes the next line of standard input; nil if no cell waits for one
	asked     string             // the peer that types it
	typed     map[string]string  // by client session: the code of its latest is_complete_request
	settling  *time.Timer        // updates the displays of widgets; nil if no user has changed one
	live      int                // numbered texts that change so far
	lives     map[int]context.CancelFunc
}

// Listen opens the ports of a connection file. version is the version of the program.
func Listen(file, version string) (*Kernel, error) {
	c, err := readConnection(file)
	if err != nil {
		return nil, err
	}
	shell, iopub, stdin, control, heartbeat, err := c.listen()
	if err != nil {
		return nil, err
	}
	if warning := c.warning(); warning != "" {
		fmt.Fprintf(os.Stderr, "symmrepl: %s: %s\n", file, warning)
	}
	k := &Kernel{version: version, signer: newSigner(c.Key), session: newID(), opened: make(chan struct{}), queue: newQueue(),
		typed: map[string]string{}, widgets: widget.NewManager()}
	k.shell, k.control, k.stdin, k.heartbeat = zmtp.NewRouter(shell), zmtp.NewRouter(control), zmtp.NewRouter(stdin),
		zmtp.NewEcho(heartbeat)
	k.iopub = zmtp.NewPublisher(iopub, k.welcome)
	k.lab, k.debug = debugadapter.NewLab(k.debugEvent), make(chan *request, debugRequests)
	return k, nil
}

// welcome returns the message that confirms a subscription.
func (k *Kernel) welcome(topic string) [][]byte {
	frames, err := k.signer.frames(k.session, "iopub_welcome", nil, content{"subscription": topic})
	if err != nil {
		return nil
	}
	return append([][]byte{[]byte(topic)}, frames...)
}

// Open opens a session in place of its previous one, and returns the console for entries. flags are
// the flags of the command line that the user gave to ":restart", nil for the first session. remark,
// unless empty, is shown in the first cell. The error is Kept if the previous session goes on.
type Open func(ctx context.Context, flags []string) (c *console.Console, remark string, err error)

// Kept is the reason why there is no new session while the previous one goes on.
type Kept struct{ Err error }

func (e Kept) Error() string { return e.Err.Error() }
func (e Kept) Unwrap() error { return e.Err }

// attempt is a result of Open.
type attempt struct {
	console *console.Console
	failed  error // why console is nil
	remark  string
	said    sync.Once // remark
}

// start opens a session.
func (k *Kernel) start(ctx context.Context, flags []string) error {
	c, remark, err := k.open(ctx, flags)
	if kept := new(Kept); errors.As(err, kept) {
		return err
	}
	if c != nil {
		err = k.lab.Reopen(ctx, c)
	}
	k.current.Store(&attempt{console: c, failed: err, remark: remark})
	return err
}

// Serve answers requests until a front end shuts the kernel down or ctx is done. It calls open for
// the first session, and again when the user asks for another session. It answers front
// ends while open runs. When Serve returns, the first call of open has returned.
func (k *Kernel) Serve(ctx context.Context, open Open) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	k.open = open
	go func() {
		defer close(k.opened)
		k.start(ctx, nil)
	}()
	go k.answer(ctx, k.control, stop)
	go k.answer(ctx, k.shell, stop)
	go k.answer(ctx, k.stdin, stop)
	go k.work(ctx)
	go k.answerDebug(ctx)
	<-ctx.Done()
	<-k.opened
	k.mu.Lock()
	k.endLives()
	k.mu.Unlock()
	k.lab.Close()
	for _, socket := range []interface{ Close() error }{k.shell, k.control, k.stdin, k.iopub, k.heartbeat} {
		socket.Close()
	}
}

// answer answers the requests of a channel.
func (k *Kernel) answer(ctx context.Context, channel *zmtp.Router, stop func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case q := <-channel.Requests():
			r, err := k.signer.parse(q.Peer, q.Message)
			if err != nil {
				fmt.Fprintln(os.Stderr, "symmrepl: a message is ignored:", err)
				continue
			}
			switch r.Type {
			case "execute_request":
				k.queue.add(r)
			case "debug_request":
				k.takeDebug(channel, r)
			case "input_reply":
				k.answered(r)
			case "comm_open", "comm_msg", "comm_close":
				k.comm(r)
			default:
				k.status(r, "busy")
				over := k.reply(ctx, channel, r)
				k.status(r, "idle")
				if over {
					stop()
					return
				}
			}
		}
	}
}

// reply answers a request, and reports whether the request shuts the kernel down.
func (k *Kernel) reply(ctx context.Context, channel *zmtp.Router, r *request) (over bool) {
	var c content
	switch r.Type {
	case "kernel_info_request":
		c = k.info()
	case "complete_request":
		c = k.complete(ctx, r)
	case "inspect_request":
		c = k.inspect(ctx, r)
	case "is_complete_request":
		c = k.isComplete(r)
	case "history_request":
		c = k.past(r)
	case "comm_info_request":
		var asked struct {
			Target string `json:"target_name"`
		}
		json.Unmarshal(r.content, &asked)
		c = k.widgets.Info(asked.Target)
	case "interrupt_request":
		k.Interrupt()
		c = content{}
	case "shutdown_request":
		var asked struct {
			Restart bool `json:"restart"`
		}
		json.Unmarshal(r.content, &asked)
		k.widgets.Settle(k.size(), k.about(r))
		c = content{"status": "ok", "restart": asked.Restart}
		k.publish(r, "shutdown_reply", c)
		over = true
	default:
		if !strings.HasSuffix(r.Type, "_request") { // a notice, such as a refused comm
			return false
		}
		text := r.Type + " is not served"
		c = notebook.Failure{Name: "unknown", Value: text, Traceback: []string{text}}.Content()
	}
	if c["status"] == nil {
		c["status"] = "ok"
	}
	k.send(channel, r, strings.TrimSuffix(r.Type, "_request")+"_reply", c)
	return over
}

func (k *Kernel) status(r *request, state string) {
	k.publish(r, "status", content{"execution_state": state})
}

// publish sends a message to all front ends. Output waits for front ends that read slowly, and is
// dropped for those that do not read.
func (k *Kernel) publish(r *request, kind string, c any) {
	message := k.message(r, kind, c)
	switch {
	case message == nil:
	case kind == "stream" || strings.HasSuffix(kind, "display_data") || kind == "execute_result" || kind == "comm_msg":
		k.iopub.Offer(func(messages, bytes int) [][]byte {
			text := fmt.Sprintf("symmrepl: %d outputs, %.1f MiB, are left out here, because this front end read nothing for some seconds\n", messages, float64(bytes)/(1<<20))
			return k.message(r, "stream", content{"name": "stderr", "text": text})
		}, message...)
	default:
		k.iopub.Publish(message...)
	}
}

// message returns a message for all front ends, or nil if its content cannot be encoded.
func (k *Kernel) message(r *request, kind string, c any) [][]byte {
	frames, err := k.signer.frames(k.session, kind, r, c)
	if err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: %s: %v\n", kind, err)
		return nil
	}
	return append([][]byte{[]byte("kernel." + k.session + "." + kind)}, frames...)
}

// send answers the front end of r, and reports whether it is connected to the channel.
func (k *Kernel) send(channel *zmtp.Router, r *request, kind string, c any) bool {
	frames, err := k.signer.frames(k.session, kind, r, c)
	if err != nil {
		fmt.Fprintf(os.Stderr, "symmrepl: %s: %v\n", kind, err)
		return true
	}
	return channel.Send(r.peer, append(slices.Clone(r.envelope), frames...)...)
}

// ready returns the console, or the reason why there is none yet or at all.
func (k *Kernel) ready() (*console.Console, error) {
	select {
	case <-k.opened:
		now := k.current.Load()
		return now.console, now.failed
	default:
		return nil, errors.New("the session is starting")
	}
}
