package widget

import (
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/session"
)

// A display of a panel has, beside the form for front ends with widgets, a form for other front
// ends: the text of its controls and the outputs in its area. A notebook's file keeps this display
// when the models are gone, so it is updated when a control or the area has changed.

// Place gives a message that displays a panel the ID by which it is updated.
func (m *Manager) Place(kind string, message Content) {
	data, _ := message["data"].(Content)
	form, has := data[FormType].(Content)
	if !has || kind == "update_display_data" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.panels {
		if form["model_id"] == p.box.comm {
			message["transient"] = Content{"display_id": p.displayID()}
			p.isResult, p.changed, p.shown = kind == "execute_result", false, true
		}
	}
}

func (p *Panel) displayID() string { return "panel " + p.box.comm }

// Changed passes updates of the displays of panels that have changed since the last update to
// publish. In a session of size ranks, the text of a result has the ranks before it.
func (m *Manager) Changed(size int, publish notebook.Publish) {
	for _, u := range m.updates(size, func(p *Panel) bool { return p.changed }) {
		u.data[FormType] = u.panel.Form()
		u.publish(publish)
	}
}

// Settle makes all displays of panels show the last outputs in place of the widgets, because their
// models end with the kernel.
func (m *Manager) Settle(size int, publish notebook.Publish) {
	for _, u := range m.updates(size, func(*Panel) bool { return true }) {
		u.publish(publish)
	}
}

// update is a new content for the display of a panel.
type update struct {
	panel          *Panel
	data, metadata Content
}

func (u update) publish(publish notebook.Publish) {
	publish("update_display_data",
		Content{"data": u.data, "metadata": u.metadata, "transient": Content{"display_id": u.panel.displayID()}})
}

// updates returns the updates of the displays of some panels.
func (m *Manager) updates(size int, of func(*Panel) bool) (list []update) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.panels {
		if p.shown && of(p) {
			p.changed = false
			data, metadata := p.fallback(size)
			list = append(list, update{p, data, metadata})
		}
	}
	return list
}

// fallback returns the display of a panel for front ends without widgets.
func (p *Panel) fallback(size int) (data, metadata Content) {
	var texts []string
	prefix := ""
	if p.isResult {
		prefix = session.Prefix(p.ranks, size)
	}
	for _, c := range p.controls {
		is := c.is
		if of := slices.Sorted(maps.Keys(c.values)); len(of) > 0 {
			is.Value = c.values[of[0]]
		}
		texts = append(texts, prefix+is.Describe())
	}
	outputs, _ := p.area.state["outputs"].([]Content)
	said, data, metadata := together(outputs)
	if said != "" {
		texts = append(texts, said)
	}
	data["text/plain"] = strings.Join(texts, "\n")
	return data, metadata
}

// together returns outputs as one display: their text and, if one output alone has other forms,
// these forms and their metadata.
func together(outputs []Content) (text string, data, metadata Content) {
	var texts []string
	rich := 0
	for _, o := range outputs {
		switch o["output_type"] {
		case "stream":
			texts = append(texts, strings.TrimSuffix(o["text"].(string), "\n"))
		case "error":
			texts = append(texts, strings.Join(o["traceback"].([]string), "\n"))
		default:
			of, _ := o["data"].(Content)
			if plain, is := of["text/plain"].(string); is {
				texts = append(texts, plain)
			}
			if len(of) > 1 {
				rich++
				data = maps.Clone(of)
				metadata, _ = o["metadata"].(Content)
			}
		}
	}
	if rich != 1 {
		data, metadata = Content{}, Content{}
	}
	return strings.Join(texts, "\n"), data, metadata
}
