package widget

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
)

const (
	// pause is the time between two updates of a panel while its function runs. A run that is
	// shorter replaces the outputs of the last at once, without a time when none is there.
	pause = 200 * time.Millisecond
	// maxArea bounds the outputs of a run in bytes, because each update holds all of them.
	maxArea = 4 << 20
)

// Area gathers the outputs of a run, which replace the panel's outputs. Publish takes them, in the
// form of messages; Area turns them into the form of a notebook's file, in which the panel has
// them.
type Area struct {
	panel   *Panel
	publish notebook.Publish

	mu      sync.Mutex
	outputs []Content
	ids     []string // of the outputs, by which they are updated
	bytes   int
	left    int  // bytes that are left out
	clear   bool // before the next output
	changed bool
	timer   *time.Timer
	over    bool
}

// NewArea returns an Area for a run, which publishes the changes of the panel by publish.
func (p *Panel) NewArea(publish notebook.Publish) *Area { return &Area{panel: p, publish: publish} }

// Publish takes an output.
func (a *Area) Publish(kind string, c any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if kind == "clear_output" {
		if wait, _ := c.(Content)["wait"].(bool); wait {
			a.clear = true
			return
		}
		a.empty()
		a.show()
		return
	}
	if a.clear {
		a.empty()
	}
	var id string
	var output Content
	switch c := c.(type) {
	case notebook.Failure:
		output = Content{"output_type": "error", "ename": c.Name, "evalue": c.Value, "traceback": c.Traceback}
	case Content:
		if kind == "stream" && a.join(c) {
			a.show()
			return
		}
		transient, _ := c["transient"].(Content)
		id, _ = transient["display_id"].(string)
		output = maps.Clone(c)
		output["output_type"] = kind
		if kind != "stream" {
			output = Content{"output_type": "display_data", "data": c["data"], "metadata": c["metadata"]}
		}
	}
	if kind == "update_display_data" {
		if at := slices.Index(a.ids, id); at >= 0 && id != "" {
			a.outputs[at] = output
			a.show()
		}
		return
	}
	if a.fits(len(fmt.Sprint(output))) {
		a.outputs, a.ids = append(a.outputs, output), append(a.ids, id)
		a.show()
	}
}

// join adds text to the last output if that is text of the same stream.
func (a *Area) join(c Content) bool {
	if len(a.outputs) == 0 {
		return false
	}
	last := a.outputs[len(a.outputs)-1]
	text, _ := c["text"].(string)
	if last["output_type"] != "stream" || last["name"] != c["name"] {
		return false
	}
	if a.fits(len(text)) {
		last = maps.Clone(last) // the panel may have it
		last["text"] = last["text"].(string) + text
		a.outputs[len(a.outputs)-1] = last
	}
	return true
}

// fits reports whether there is room for n more bytes.
func (a *Area) fits(n int) bool {
	if a.left > 0 || a.bytes+n > maxArea {
		a.left += n
		return false
	}
	a.bytes += n
	return true
}

func (a *Area) empty() {
	a.outputs, a.ids, a.bytes, a.left, a.clear = nil, nil, 0, 0, false
}

// show makes the panel show the outputs before long.
func (a *Area) show() {
	a.changed = true
	if a.timer == nil {
		a.timer = time.AfterFunc(pause, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.timer = nil
			if a.changed && !a.over {
				a.update()
			}
		})
	}
}

// update makes the panel show the outputs. a.mu is held.
func (a *Area) update() {
	a.changed = false
	outputs := append([]Content{}, a.outputs...)
	if a.left > 0 {
		text := fmt.Sprintf("symmrepl: %.1f MiB more are left out here: a widget shows %d MiB of a run\n",
			float64(a.left)/(1<<20), maxArea>>20)
		outputs = append(outputs, Content{"output_type": "stream", "name": "stderr", "text": text})
	}
	m := a.panel.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, _ := a.panel.area.state["outputs"].([]Content); len(before)+len(outputs) > 0 && m.models[a.panel.area.comm] != nil {
		a.panel.show(outputs, a.publish)
	}
}

// End shows the outputs of the run. No others come.
func (a *Area) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
	a.update()
	a.over = true
}

// Drop ends the area without showing it, unless it has outputs.
func (a *Area) Drop() {
	a.mu.Lock()
	nothing := len(a.outputs) == 0 && !a.over
	a.over = a.over || nothing
	a.mu.Unlock()
	if !nothing {
		a.End()
	}
}

// Messages returns the outputs as messages: their kinds and contents.
func (a *Area) Messages(yield func(kind string, c Content) bool) {
	a.mu.Lock()
	outputs := slices.Clone(a.outputs)
	a.mu.Unlock()
	for _, o := range outputs {
		c := maps.Clone(o)
		delete(c, "output_type")
		kind := o["output_type"].(string)
		if kind == "display_data" {
			c["transient"] = Content{}
		}
		if !yield(kind, c) {
			return
		}
	}
}

// Forms returns the outputs as one display.
func (a *Area) Forms() (text string, data, metadata Content) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return together(a.outputs)
}
