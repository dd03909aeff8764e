package jupyter

import (
	"maps"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/widget"
	"github.com/symmrepl/symmrepl/session"
)

// screen is the console.Printer of one entry, or of a run of a widget's function.
type screen struct {
	*notebook.Screen
	k       *Kernel
	request *request
	input   bool             // the front end offers standard input
	comms   notebook.Publish // publishes messages about widgets
	publish notebook.Publish // publishes outputs
	event   bool             // the outputs belong to a widget

	payload []any
	panels  map[string]*shownPanel // of this entry, by ID
	shown   []*shownPanel          // in order
	ran     []*widget.Panel        // whose functions have run
}

// shownPanel is a panel that an entry shows. Its display comes when its function has run, so that it
// has the output for front ends without widgets.
type shownPanel struct {
	panel   *widget.Panel
	display *session.Output // that has not been published yet
}

// newScreen returns a screen that publishes to all front ends, or to none if the entry is silent.
// console is set if a text console has sent it.
func newScreen(k *Kernel, r *request, number int, silent, console bool) *screen {
	publish := func(kind string, c any) {
		if shown, ok := c.(content); ok {
			k.widgets.Place(kind, shown)
			if kind == "execute_result" {
				k.noteResult(number, shown)
			}
		}
		if !silent {
			k.publish(r, kind, c)
		}
	}
	s := &screen{k: k, request: r, publish: publish, payload: []any{}, panels: map[string]*shownPanel{}}
	s.Screen = notebook.NewScreen(1, inputName(number), r.ID, number, publish)
	s.Console = console
	s.comms = func(kind string, c any) { k.publish(r, kind, c) }
	return s
}

// newEventScreen returns a screen that publishes to an area of a widget.
func newEventScreen(k *Kernel, r *request, title string, area *widget.Area) *screen {
	s := &screen{k: k, request: r, publish: area.Publish, event: true, panels: map[string]*shownPanel{}}
	s.Screen = notebook.NewScreen(1, title, newID(), 0, area.Publish)
	s.Whole = true // an area has a limit of its own
	s.comms = func(kind string, c any) { k.publish(r, kind, c) }
	if c, err := k.ready(); err == nil {
		s.Printer.Size = c.Size
	}
	return s
}

// Output implements console.Printer.
func (s *screen) Output(o session.Output) {
	if o.Display == nil {
		s.Screen.Output(o)
		return
	}
	p := console.PanelOf(o.Display.Data)
	switch {
	case p == nil:
		s.Screen.Output(o)
	case p.Set:
		s.k.widgets.Set(*p, o.Ranks, s.comms)
	default:
		shown, more := s.show(p, o.Ranks)
		if more {
			return
		}
		o.Display.Data = withPanel(o.Display.Data, shown.panel)
		if shown.display = &o; len(p.Run) == 0 {
			s.showPanel(shown, nil)
		}
	}
}

// show announces a panel of ranks. more reports whether other ranks have shown it before in this entry.
func (s *screen) show(p *session.Panel, ranks []int) (shown *shownPanel, more bool) {
	before := s.panels[p.ID]
	if before != nil && s.k.widgets.Show(*p, ranks, before.panel, s.comms) == before.panel {
		return before, true
	}
	shown = &shownPanel{panel: s.k.widgets.Show(*p, ranks, nil, s.comms)}
	s.panels[p.ID] = shown
	s.shown = append(s.shown, shown)
	return shown, false
}

// withPanel returns forms with the form of a panel that front ends know.
func withPanel(forms map[string]any, p *widget.Panel) map[string]any {
	forms = maps.Clone(forms)
	delete(forms, session.PanelType)
	forms[widget.FormType] = p.Form()
	return forms
}

// showPanel publishes the display of a panel, with the outputs in its area if its function has run.
func (s *screen) showPanel(shown *shownPanel, area *widget.Area) {
	o := shown.display
	if o == nil {
		return
	}
	shown.display = nil
	if area != nil {
		text, data, metadata := area.Forms()
		said, _ := o.Display.Data["text/plain"].(string)
		if text != "" {
			text = said + "\n" + text
		} else {
			text = said
		}
		maps.Copy(data, o.Display.Data)
		data["text/plain"], o.Display.Data, o.Display.Metadata = text, data, metadata
	}
	s.Screen.Output(*o)
}

// showPanels publishes the displays of panels whose functions have not run, because the entry failed
// before.
func (s *screen) showPanels() {
	for _, shown := range s.shown {
		s.showPanel(shown, nil)
	}
}

// Reply implements console.Printer.
func (s *screen) Reply(r session.Reply) {
	for i, v := range r.Values {
		if p := console.PanelOf(v.Data); p != nil {
			shown, _ := s.show(p, v.Ranks)
			r.Values[i].Data = withPanel(v.Data, shown.panel)
		}
	}
	s.Screen.Reply(r)
}

// Panel implements console.PanelPrinter. What the function prints and returns is shown in the panel,
// and also below the entry if that has changed the panel's widgets.
func (s *screen) Panel(id string, ranks []int) (p console.Printer, end func()) {
	panel := s.k.widgets.Panel(id, ranks)
	if panel == nil {
		return s, func() {}
	}
	s.ran = append(s.ran, panel)
	area := panel.NewArea(s.comms)
	own := newEventScreen(s.k, s.request, id, area)
	return own, func() {
		own.End()
		area.End()
		switch shown := s.panels[id]; {
		case shown != nil && shown.display != nil:
			s.showPanel(shown, area)
		case !s.event:
			s.CatchUp()
			for kind, c := range area.Messages {
				s.publish(kind, c)
			}
		}
	}
}

// noteResult adds the text of a result to the history.
func (k *Kernel) noteResult(number int, result content) {
	data, _ := result["data"].(content)
	if text, ok := data["text/plain"].(string); ok {
		k.history.result(number, text)
	}
}
