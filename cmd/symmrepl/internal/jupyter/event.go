package jupyter

import (
	"context"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
)

// comm takes a message about a widget. A change waits for its turn in the queue: the newest alone, of
// those that wait.
func (k *Kernel) comm(r *request) {
	k.status(r, "busy")
	if c := k.widgets.Receive(r.Type, r.content, k.about(r)); c != nil {
		r.change = c
		if older := k.queue.replace(r); older != nil {
			k.status(older, "idle")
		}
		return
	}
	k.status(r, "idle")
}

// about returns the function that publishes messages as consequences of a request.
func (k *Kernel) about(r *request) notebook.Publish {
	return func(kind string, c any) { k.publish(r, kind, c) }
}

// event runs a change of a widget: on all ranks that have the widget, as a silent cell. Its errors are
// shown in the widget's panel.
func (k *Kernel) event(ctx context.Context, r *request) {
	defer k.status(r, "idle")
	source, panel := r.change.Take(), r.change.Panel()
	c, err := k.ready()
	if source == "" || panel == nil || err != nil {
		return
	}
	area := panel.NewArea(k.about(r))
	s := newEventScreen(k, r, r.change.Name(), area)
	gone := ctx.Done()
	ctx, ended := k.interruptible(ctx, s)
	defer ended()
	entry := console.Request{Source: source, Name: r.change.Name(), Printer: s, Silent: true, Stop: stopButton,
		Again: stopButton + " again", Gone: gone}
	outcome := c.Widget(ctx, entry, r.change.Ranks())
	s.showPanels()
	s.End()
	if outcome == console.Done && slices.Contains(s.ran, panel) {
		area.Drop() // the panel shows the output of its function
	} else {
		area.End()
	}
	if outcome != console.Done {
		k.checkWidgets(s)
	}
	k.settleWidgets(r)
}

// stillness is the time for which widgets have to be left alone until their displays are updated: a
// front end that shows the update draws the widgets anew, under the user's hand.
const stillness = 5 * time.Second

// settleWidgets updates the displays of widgets when the user leaves them alone.
func (k *Kernel) settleWidgets(r *request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.settling != nil {
		k.settling.Stop()
	}
	k.settling = time.AfterFunc(stillness, func() { k.widgets.Changed(k.size(), k.about(r)) })
}

// updateWidgets updates the displays of widgets that have changed, as consequences of an entry. Text
// consoles show no updates.
func (k *Kernel) updateWidgets(s *screen) {
	if !s.Console {
		k.widgets.Changed(k.size(), s.publish)
	}
}

// size returns the number of ranks, 1 while there is no session.
func (k *Kernel) size() int {
	if c, err := k.ready(); err == nil {
		return c.Size
	}
	return 1
}

// checkWithin bounds how long a search for replaced workers takes.
const checkWithin = 2 * time.Second

// checkWidgets makes the widgets of workers that were replaced say that they are lost.
func (k *Kernel) checkWidgets(s *screen) {
	c, err := k.ready()
	if err != nil || !k.widgets.Any() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkWithin)
	defer cancel()
	if infos, err := c.Session.Ranks(ctx); err == nil {
		k.widgets.Check(infos, s.comms)
	}
}
