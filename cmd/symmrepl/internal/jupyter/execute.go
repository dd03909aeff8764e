package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/session"
)

const (
	stopButton = "■"      // interrupts a cell in notebooks
	stopKey    = "Ctrl-C" // the same in text consoles
)

// executeRequest is the content of execute_request.
type executeRequest struct {
	Code         string            `json:"code"`
	Silent       bool              `json:"silent"`
	StoreHistory *bool             `json:"store_history"`
	Expressions  map[string]string `json:"user_expressions"`
	AllowStdin   *bool             `json:"allow_stdin"`
	StopOnError  *bool             `json:"stop_on_error"`
}

// audienceWithin bounds how long the first entry waits for a front end that shows its output.
const audienceWithin = 2 * time.Second

// work runs entries, one after another. A front end connects its channels one by one: the first
// entry may be here before the front end has subscribed to its output, without which a console
// would wait for ever for the entry's end.
func (k *Kernel) work(ctx context.Context) {
	r := k.queue.next(ctx)
	select {
	case <-k.iopub.Subscribed():
	case <-time.After(audienceWithin):
	case <-ctx.Done():
	}
	for ; r != nil; r = k.queue.next(ctx) {
		if r.change != nil {
			k.event(ctx, r)
			continue
		}
		var asked executeRequest
		k.status(r, "busy")
		var answer content
		if err := json.Unmarshal(r.content, &asked); err != nil {
			answer = malformed(err)
		} else {
			answer = k.execute(ctx, r, asked)
		}
		var aborted []*request
		if answer["status"] == "error" && orTrue(asked.StopOnError) {
			aborted = k.queue.settle(ctx)
		}
		k.send(k.shell, r, "execute_reply", answer)
		k.status(r, "idle")
		for _, r := range aborted {
			k.abort(r)
		}
	}
}

// malformed is the reply to a request that cannot be read.
func malformed(err error) content {
	return notebook.Failure{Name: "malformed", Value: err.Error(), Traceback: []string{err.Error()}}.Content()
}

// inputName is the name of a numbered entry in positions and remarks.
func inputName(number int) string { return fmt.Sprintf("In[%d]", number) }

// abort answers an entry that is not run.
func (k *Kernel) abort(r *request) {
	k.status(r, "busy")
	k.send(k.shell, r, "execute_reply", content{"status": "aborted"})
	k.status(r, "idle")
}

func orTrue(b *bool) bool { return b == nil || *b }

// execute runs an entry and returns the content of the reply.
func (k *Kernel) execute(ctx context.Context, r *request, asked executeRequest) content {
	gone := ctx.Done()
	stored := !asked.Silent && orTrue(asked.StoreHistory)
	k.mu.Lock()
	if stored {
		k.count++
	}
	number := k.count
	text := k.isConsole(r, asked.Code)
	k.mu.Unlock()
	s := newScreen(k, r, number, asked.Silent, text)
	ctx, ended := k.interruptible(ctx, s)
	defer ended()
	if stored {
		k.history.add(number, asked.Code)
	}
	if !asked.Silent {
		k.publish(r, "execute_input", content{"code": asked.Code, "execution_count": number})
	}
	s.input = orTrue(asked.AllowStdin)
	expressions := content{}
	if flags := another.FindStringSubmatch(asked.Code); flags != nil {
		k.startAnother(ctx, s, strings.Fields(flags[1]))
	} else if k.await(ctx, s) {
		stop := stopButton
		if s.Console {
			stop = stopKey
		}
		entry := console.Request{Source: asked.Code, Printer: s, Silent: !stored, Stop: stop, Again: stop + " again",
			Notebook: !s.Console, Gone: gone, Input: s.ask, Late: s.Output}
		if stored {
			entry.Name = inputName(number)
			k.lab.Entered(entry.Name, asked.Code)
			k.sayRemark(s)
		}
		k.updateWidgets(s) // as the user has left them
		k.enter(ctx, s, entry)
		s.showPanels()
		if !s.HasFailed() {
			for name, source := range asked.Expressions {
				expressions[name] = k.evaluate(ctx, source)
			}
		}
	}
	if begins := strings.TrimSpace(asked.Code); s.HasFailed() || len(s.shown) > 0 || strings.HasPrefix(begins, ":") ||
		strings.HasPrefix(begins, "%") {
		k.checkWidgets(s) // a worker may have been replaced
	}
	failed := s.End()
	k.updateWidgets(s)
	if failed != nil {
		answer := failed.Content()
		answer["execution_count"] = number
		return answer
	}
	return content{"status": "ok", "execution_count": number, "payload": s.payload, "user_expressions": expressions}
}

// await waits for the session and reports whether there is one.
func (k *Kernel) await(ctx context.Context, s *screen) bool {
	select {
	case <-k.opened:
	case <-ctx.Done():
		s.Fail("interrupted while the session was starting")
		return false
	}
	c, err := k.ready()
	if err != nil {
		s.Fail("the session could not start: %v\nRestart the kernel when that is mended.", err)
		return false
	}
	s.Printer.Size = c.Size
	return true
}

// sayRemark shows the remark about the session in its first cell.
func (k *Kernel) sayRemark(s *screen) {
	if a := k.current.Load(); a.remark != "" {
		a.said.Do(func() { s.Note(nil, "%s", a.remark) })
	}
}

// enter runs an entry, whose printer is s.
func (k *Kernel) enter(ctx context.Context, s *screen, entry console.Request) {
	c, _ := k.ready()
	if console.IsQuestion(entry.Source) {
		k.page(ctx, s, entry.Source)
		return
	}
	if target := c.Target(); target != nil && c.HasCode(entry.Source) {
		s.Note(nil, "this cell runs on rank %s only, as %%on has chosen; %%on all goes back to all", session.FormatRanks(target))
	}
	switch c.Notebook(ctx, entry) {
	case console.Quit:
		s.payload = append(s.payload, content{"source": "ask_exit", "keepkernel": false})
	case console.Failed:
		if !s.HasFailed() { // the reason was shown as text
			s.Fail("the entry failed")
		}
	}
}

// another matches the command that starts another session, with its flags.
var another = regexp.MustCompile(`^\s*[:%]restart\s+(-.*?)\s*$`)

// startAnother starts a session by flags of the command line.
func (k *Kernel) startAnother(ctx context.Context, s *screen, flags []string) {
	select {
	case <-k.opened:
	case <-ctx.Done():
	}
	err := ctx.Err()
	if err == nil {
		err = k.start(ctx, flags)
	}
	if err != nil {
		s.Fail(":restart: %v", err)
		return
	}
	k.widgets.LoseAll("the session was restarted", s.comms)
	c, err := k.ready()
	if err != nil {
		return
	}
	s.Note(nil, "a new session with %s", session.FormatSize(c.Size))
}

// page answers a question about a name in the front end's pager.
func (k *Kernel) page(ctx context.Context, s *screen, question string) {
	c, _ := k.ready()
	name := console.Asked(question)
	text := c.ExplainAt(ctx, name, len(name), console.DetailOf(question))
	if text == "" {
		s.Fail("nothing is known of %s", name)
		return
	}
	s.payload = append(s.payload, content{"source": "page", "data": explanation(text), "start": 0})
}

// evaluate returns the value of an expression, or the error, as user_expressions has them.
func (k *Kernel) evaluate(ctx context.Context, source string) content {
	c, _ := k.ready()
	reply := c.Session.Eval(ctx, session.Cell{Source: source, Silent: true, Ranks: c.Target()})
	if len(reply.Errors) > 0 {
		return notebook.FailureOf(reply.Errors, c.Size).Content()
	}
	data, metadata := notebook.Bundle(reply.Values, c.Size)
	return content{"status": "ok", "data": data, "metadata": metadata}
}
