package widget

import (
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
)

// maxPanels bounds the panels whose models front ends have. The oldest is closed when more are shown.
const maxPanels = 500

// Manager holds the panels of a kernel's session. Its methods may be called by several goroutines; a
// Publish that they get is called before they return.
type Manager struct {
	mu     sync.Mutex // guards all that it holds
	models map[string]*model
	panels []*Panel // oldest first
	asking map[string]bool
}

// NewManager returns a Manager without panels.
func NewManager() *Manager { return &Manager{models: map[string]*model{}, asking: map[string]bool{}} }

// Panel is a panel that front ends have.
type Panel struct {
	m            *Manager
	id           string
	ranks        []int // that have it
	controls     []*Control
	area, box    *model
	incarnations map[int]int // of the workers of ranks; nil if they are not known yet
	lost         bool
	shown        bool // in a display, which is a result if isResult is set
	isResult     bool
	changed      bool // since the display was published or updated
}

// Control is a control that front ends have.
type Control struct {
	m      *Manager
	is     session.Control
	values map[int]any // by the ranks that have it; differ if code has set different ones
	model  *model
	lost   bool
	change string // the cell of the last change that has not run, "" if there is none
}

// Ranks returns the ranks that have the control.
func (c *Control) Ranks() []int {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	return slices.Sorted(maps.Keys(c.values))
}

// Name names the control in positions and remarks.
func (c *Control) Name() string { return c.is.ID }

// Take returns the cell of the last change, "" if it has been taken.
func (c *Control) Take() (source string) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	source, c.change = c.change, ""
	return source
}

// Panel returns the panel that was last shown with a control.
func (c *Control) Panel() *Panel {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	for _, p := range slices.Backward(c.m.panels) {
		if slices.Contains(p.controls, c) {
			return p
		}
	}
	return nil
}

// Info returns the content of a reply to comm_info_request.
func (m *Manager) Info(of string) Content {
	m.mu.Lock()
	defer m.mu.Unlock()
	comms := Content{}
	for comm := range m.models {
		if of == "" || of == target {
			comms[comm] = Content{"target_name": target}
		}
	}
	for comm := range m.asking {
		if of == "" || of == control {
			comms[comm] = Content{"target_name": control}
		}
	}
	return Content{"comms": comms}
}

// Show announces the models of a panel of ranks and returns the panel. If more, a panel that other
// ranks have just shown, is the same, Show adds the ranks to it and returns it.
func (m *Manager) Show(p session.Panel, ranks []int, more *Panel, publish notebook.Publish) *Panel {
	m.mu.Lock()
	defer m.mu.Unlock()
	if more != nil && more.same(p) {
		more.ranks = joined(more.ranks, ranks)
		for i, c := range more.controls {
			c.set(p.Controls[i].Value, ranks, publish)
		}
		return more
	}
	shown := &Panel{m: m, id: p.ID, ranks: slices.Clone(ranks)}
	var in []*model
	for _, is := range p.Controls {
		c := m.control(is, ranks)
		if c == nil {
			c = &Control{m: m, is: is, values: map[int]any{}}
			for _, r := range ranks {
				c.values[r] = is.Value
			}
			c.model = m.open(modelOf(newComm(), is), publish)
			c.model.of = c
		} else {
			c.set(is.Value, ranks, publish)
		}
		shown.controls = append(shown.controls, c)
		in = append(in, c.model)
	}
	shown.area = m.open(area(newComm()), publish)
	shown.box = m.open(box(newComm(), append(in, shown.area)), publish)
	m.panels = append(m.panels, shown)
	if len(m.panels) > maxPanels {
		m.close(m.panels[0], publish)
	}
	return shown
}

func newComm() string { return rand.Text() }

func joined(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// same reports whether p is the panel, apart from values.
func (p *Panel) same(as session.Panel) bool {
	return p.id == as.ID && slices.EqualFunc(p.controls, as.Controls,
		func(c *Control, is session.Control) bool { return sameControl(c.is, is) })
}

func sameControl(a, b session.Control) bool {
	a.Value, b.Value = nil, nil
	return reflect.DeepEqual(a, b)
}

// control returns the control that front ends have on all of ranks, nil if there is none.
func (m *Manager) control(is session.Control, ranks []int) *Control {
	for _, p := range slices.Backward(m.panels) {
		for _, c := range p.controls {
			if !c.lost && sameControl(c.is, is) && c.isOn(ranks) {
				return c
			}
		}
	}
	return nil
}

func (c *Control) isOn(ranks []int) bool {
	return !slices.ContainsFunc(ranks, func(r int) bool { _, has := c.values[r]; return !has })
}

// open announces a model.
func (m *Manager) open(of *model, publish notebook.Publish) *model {
	m.models[of.comm] = of
	publish(kindOpen, of.open())
	return of
}

// close makes front ends forget a panel, and the controls that no other panel has.
func (m *Manager) close(p *Panel, publish notebook.Publish) {
	m.panels = slices.DeleteFunc(m.panels, func(q *Panel) bool { return q == p })
	gone := []*model{p.box, p.area}
	for _, c := range p.controls {
		if !slices.ContainsFunc(m.panels, func(q *Panel) bool { return slices.Contains(q.controls, c) }) {
			gone = append(gone, c.model)
		}
	}
	for _, of := range gone {
		if m.models[of.comm] != nil {
			delete(m.models, of.comm)
			publish(kindClose, Content{"comm_id": of.comm, "data": Content{}})
		}
	}
}

// Form returns the form of the panel in display data.
func (p *Panel) Form() Content {
	return Content{"version_major": 2, "version_minor": 0, "model_id": p.box.comm}
}

// FormType is the MIME type of Form.
const FormType = "application/vnd.jupyter.widget-view+json"

// Panel returns the panel that was last shown under an ID on all of ranks, nil if there is none.
func (m *Manager) Panel(id string, ranks []int) *Panel {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range slices.Backward(m.panels) {
		if p.id == id && !slices.ContainsFunc(ranks, func(r int) bool { return !slices.Contains(p.ranks, r) }) {
			return p
		}
	}
	return nil
}

// Set takes the values that code has set on ranks.
func (m *Manager) Set(p session.Panel, ranks []int, publish notebook.Publish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, is := range p.Controls {
		if c := m.control(is, ranks); c != nil {
			c.set(is.Value, ranks, publish)
		}
	}
}

// set sets the value on ranks, which need not have the control yet, and tells front ends the
// changes: they show the value of the first rank, and say if others have another.
func (c *Control) set(value any, ranks []int, publish notebook.Publish) {
	for _, r := range ranks {
		c.values[r] = value
	}
	if c.is.Kind == inband.Button {
		return
	}
	of := slices.Sorted(maps.Keys(c.values))
	first, description := c.values[of[0]], c.is.Name
	if slices.ContainsFunc(of, func(r int) bool { return c.values[r] != first }) {
		description += " (ranks differ)"
	}
	c.tell(Content{valueKey(c.is): valueState(c.is, first), "description": description}, publish)
}

// tell changes the parts of the state that differ.
func (c *Control) tell(state Content, publish notebook.Publish) {
	maps.DeleteFunc(state, func(key string, v any) bool { return c.model.state[key] == v })
	if len(state) > 0 {
		maps.Copy(c.model.state, state)
		publish(kindMessage, c.model.update("update", state))
		c.changes()
	}
}

// changes notes that the displays with the control have changed.
func (c *Control) changes() {
	for _, p := range c.m.panels {
		p.changed = p.changed || slices.Contains(p.controls, c)
	}
}

// Receive takes a message of a front end: an update of a control's value, a click, a request for the
// state of one model or of all, the end of a comm. It returns the control whose change has to run on
// its ranks, nil if there is none. It refuses other messages, and values that a control cannot have: it
// writes why to standard error, and tells the front end the value that is true.
func (m *Manager) Receive(kind string, raw []byte, publish notebook.Publish) *Control {
	m.mu.Lock()
	defer m.mu.Unlock()
	msg, err := parse(kind, raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "symmrepl: a message is ignored:", err)
		return nil
	}
	of := m.models[msg.comm]
	switch {
	case kind == kindOpen && msg.target == control && of == nil && len(m.asking) < maxPanels:
		m.asking[msg.comm] = true
	case kind == kindOpen && of == nil: // the kernel has no other target
		publish(kindClose, Content{"comm_id": msg.comm, "data": Content{}})
	case kind == kindClose:
		delete(m.asking, msg.comm)
		delete(m.models, msg.comm)
		m.forget(of, publish)
	case kind == kindMessage && m.asking[msg.comm] && msg.method == "request_states":
		publish(kindMessage, Content{"comm_id": msg.comm,
			"data": Content{"method": "update_states", "states": m.states(), "buffer_paths": []any{}}})
	case kind == kindMessage && of != nil && msg.method == "request_state":
		publish(kindMessage, of.update("update", of.state))
	case kind == kindMessage && of != nil && of.of != nil:
		return of.of.receive(msg, publish)
	}
	return nil
}

// forget closes the panels that have a model of which a front end has closed the comm.
func (m *Manager) forget(of *model, publish notebook.Publish) {
	for _, p := range slices.Clone(m.panels) {
		if of != nil && (p.box == of || p.area == of || slices.Contains(p.controls, of.of)) {
			m.close(p, publish)
		}
	}
}

// states returns the states of all models.
func (m *Manager) states() Content {
	states := Content{}
	for comm, of := range m.models {
		states[comm] = Content{"model_name": of.name, "model_module": of.module, "model_module_version": of.version, "state": of.state}
	}
	return states
}

// receive takes a change by a front end.
func (c *Control) receive(msg message, publish notebook.Publish) *Control {
	key := valueKey(c.is)
	switch {
	case c.lost:
	case c.is.Kind == inband.Button:
		if msg.method == "custom" && msg.event == "click" {
			c.change = console.RunSource(c.is.Function)
			return c
		}
		return nil
	case msg.method == "update" && msg.state[key] != nil:
		sent, err := plain(msg.state[key])
		var value any
		if err == nil {
			value, err = c.is.Accept(sent)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "symmrepl: a change of %s %q is ignored: %v\n", c.is.Kind, c.is.ID, err)
			break
		}
		for r := range c.values {
			c.values[r] = value
		}
		c.model.state[key] = sent
		c.changes()
		publish(kindMessage, c.model.update("echo_update", Content{key: sent}))
		c.tell(Content{key: valueState(c.is, value), "description": c.is.Name}, publish)
		c.change = fmt.Sprintf("display.Set(%q, %s)", c.is.ID, literal(value))
		return c
	default:
		return nil
	}
	publish(kindMessage, c.model.update("update", Content{key: c.model.state[key]}))
	return nil
}

// literal returns a value in Go.
func literal(value any) string {
	if text, is := value.(string); is {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}

// Check compares the workers with those that have the panels. A panel whose worker was replaced, and
// has not run the cells again, is lost: its controls are disabled, and its area says why.
func (m *Manager) Check(infos []session.RankInfo, publish notebook.Publish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.panels {
		now, replaced := map[int]int{}, []int{}
		for _, info := range infos {
			if !slices.Contains(p.ranks, info.Rank) {
				continue
			}
			now[info.Rank] = info.Incarnation
			if p.incarnations != nil && p.incarnations[info.Rank] != info.Incarnation && info.Replaced != 0 {
				replaced = append(replaced, info.Rank)
			}
		}
		if len(replaced) > 0 {
			p.lose("the worker of rank "+session.FormatRanks(replaced)+" was replaced", publish)
			continue
		}
		p.incarnations = now
	}
}

// LoseAll makes all panels lost, because of why.
func (m *Manager) LoseAll(why string, publish notebook.Publish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.panels {
		p.lose(why, publish)
	}
}

// Any reports whether front ends have a panel that is not lost.
func (m *Manager) Any() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.panels, func(p *Panel) bool { return !p.lost })
}

func (p *Panel) lose(why string, publish notebook.Publish) {
	if p.lost {
		return
	}
	p.lost = true
	for _, c := range p.controls {
		c.lost, c.change = true, ""
		c.tell(Content{"disabled": true}, publish)
	}
	said := Content{"output_type": "stream", "name": "stderr", "text": why + ": the cell's variables are lost. Run the cell of this widget again.\n"}
	before, _ := p.area.state["outputs"].([]Content)
	p.show(append(slices.Clone(before), said), publish)
}

// show replaces the outputs in the panel's area.
func (p *Panel) show(outputs []Content, publish notebook.Publish) {
	p.area.state["outputs"], p.changed = outputs, true
	publish(kindMessage, p.area.update("update", Content{"outputs": outputs}))
}
