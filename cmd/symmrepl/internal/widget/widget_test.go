package widget

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
)

// front records the messages that a front end gets.
type front struct{ messages []string }

func (f *front) publish(kind string, c any) {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	f.messages = append(f.messages, kind+" "+string(text))
}

func (f *front) take() []string {
	got := f.messages
	f.messages = nil
	return got
}

func slider(id string, value float64) session.Control {
	return session.Control{ID: id, Kind: inband.Slider, Name: id, Min: 1, Max: 9, Step: 1, Value: value}
}

func TestPanels(t *testing.T) {
	m, f := NewManager(), &front{}
	n := session.Panel{ID: "n", Controls: []session.Control{slider("n", 2)}}
	p := m.Show(n, []int{0}, nil, f.publish)
	if got := f.take(); len(got) != 3 {
		t.Fatal(got)
	}
	if q := m.Show(n, []int{1}, p, f.publish); q != p || len(f.take()) != 0 || !reflect.DeepEqual(p.controls[0].Ranks(), []int{0, 1}) {
		t.Errorf("ranks that show the panel a moment later: %v", p.controls[0].values)
	}
	q := m.Show(session.Panel{ID: "interact", Controls: []session.Control{slider("n", 3)}}, []int{0, 1}, nil, f.publish)
	if q.controls[0] != p.controls[0] || len(f.take()) != 3 { // the value, an area, a box
		t.Error("a widget in two panels has two models")
	}
	if q.controls[0].Panel() != q || m.Panel("n", []int{1}) != p || m.Panel("n", []int{2}) != nil || m.Panel("m", nil) != nil {
		t.Error("a panel is not found")
	}
	if other := m.Show(n, []int{2}, nil, f.publish); other.controls[0] == p.controls[0] {
		t.Error("rank 2 has a widget of its own")
	}
	f.take()
	m.Set(session.Panel{Controls: []session.Control{slider("n", 7)}}, []int{1}, f.publish)
	if got, want := f.take(), fmt.Sprintf(`comm_msg {"comm_id":%q,"data":{"buffer_paths":[],"method":"update","state":{"description":"n (ranks differ)"}}}`,
		p.controls[0].model.comm); len(got) != 1 || got[0] != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestManyPanels(t *testing.T) {
	m, f := NewManager(), &front{}
	for i := range maxPanels + 10 {
		m.Show(session.Panel{ID: fmt.Sprint(i), Controls: []session.Control{slider(fmt.Sprint(i), 2)}}, []int{0}, nil, f.publish)
	}
	closed := 0
	for _, message := range f.take() {
		if strings.HasPrefix(message, kindClose) {
			closed++
		}
	}
	if len(m.panels) != maxPanels || len(m.models) != 3*maxPanels || closed != 30 {
		t.Errorf("%d panels, %d models, %d closed", len(m.panels), len(m.models), closed)
	}
}

func TestCheck(t *testing.T) {
	m, f := NewManager(), &front{}
	p := m.Show(session.Panel{ID: "n", Controls: []session.Control{slider("n", 2)}}, []int{0, 1}, nil, f.publish)
	f.take()
	workers := func(incarnation, replaced int) []session.RankInfo {
		return []session.RankInfo{{Rank: 0, Incarnation: 1}, {Rank: 1, Incarnation: incarnation, Replaced: replaced},
			{Rank: 2, Incarnation: incarnation, Replaced: 1}}
	}
	m.Check(workers(1, 0), f.publish)
	m.Check(workers(2, 0), f.publish) // its cells ran again
	if got := f.take(); len(got) != 0 || p.lost {
		t.Error(got)
	}
	m.Check(workers(3, 4), f.publish)
	got := strings.Join(f.take(), "\n")
	if !p.lost || m.Any() || !strings.Contains(got, `{"disabled":true}`) ||
		!strings.Contains(got, "the worker of rank 1 was replaced: the cell's variables are lost. Run the cell of this widget again.") {
		t.Error(got)
	}
	m.LoseAll("again", f.publish)
	if got := f.take(); len(got) != 0 {
		t.Error(got)
	}
}

func TestArea(t *testing.T) {
	m, f := NewManager(), &front{}
	p := m.Show(session.Panel{ID: "n", Controls: []session.Control{slider("n", 2)}}, []int{0}, nil, f.publish)
	stream := func(text string) Content { return Content{"name": "stdout", "text": text} }
	shown := func(id, text string) Content {
		return Content{"data": Content{"text/plain": text}, "metadata": Content{}, "transient": Content{"display_id": id}}
	}
	a := p.NewArea(f.publish)
	a.Publish("stream", stream("a"))
	a.Publish("stream", stream("b\n"))
	a.Publish("display_data", shown("x", "first"))
	a.Publish("update_display_data", shown("x", "second"))
	a.Publish("update_display_data", shown("y", "unknown"))
	a.End()
	want := []Content{{"output_type": "stream", "name": "stdout", "text": "ab\n"},
		{"output_type": "display_data", "data": Content{"text/plain": "second"}, "metadata": Content{}}}
	if got := p.area.state["outputs"]; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if text, data, _ := a.Forms(); text != "ab\nsecond" || len(data) != 0 {
		t.Errorf("%q %v", text, data)
	}
	a.Publish("stream", stream("late"))
	b := p.NewArea(f.publish)
	b.Drop()
	if got := p.area.state["outputs"]; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	b = p.NewArea(f.publish)
	b.Publish("stream", stream(strings.Repeat("a", maxArea-1000)))
	b.Publish("clear_output", Content{"wait": true})
	b.Publish("stream", stream("kept\n"))
	b.Publish("stream", stream(strings.Repeat("b", maxArea)))
	b.Publish("stream", stream("not\n"))
	b.End()
	want = []Content{{"output_type": "stream", "name": "stdout", "text": "kept\n"},
		{"output_type": "stream", "name": "stderr", "text": "symmrepl: 4.0 MiB more are left out here: a widget shows 4 MiB of a run\n"}}
	if got := p.area.state["outputs"]; !reflect.DeepEqual(got, want) {
		t.Errorf("%.300v", got)
	}
}

// FuzzReceive checks that no message of a front end changes anything but the value of a control, to one
// that it can have.
func FuzzReceive(f *testing.F) {
	for _, text := range []string{`{"comm_id":"C","data":{"method":"update","state":{"value":3}}}`,
		`{"comm_id":"C","data":{"method":"custom","content":{"event":"click"}}}`,
		`{"comm_id":"C","data":{"method":"request_state"}}`, `{"comm_id":"x","target_name":"jupyter.widget.control"}`, `{"comm_id":"C"}`, `[]`,
		`{"comm_id":"C","data":{"method":"update","state":{"value":"3"}}}`, `{"comm_id":"C","data":{"method":"update","state":{"value":1e999}}}`} {
		for _, kind := range []string{kindMessage, kindOpen, kindClose} {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		m, out := NewManager(), &front{}
		p := m.Show(session.Panel{ID: "n", Controls: []session.Control{slider("n", 2)}}, []int{0, 1}, nil, out.publish)
		p.controls[0].model.comm = "C"
		m.models["C"] = p.controls[0].model
		c := m.Receive(kind, []byte(text), out.publish)
		value, ok := p.controls[0].values[0].(float64)
		if !ok || value < 1 || value > 9 || value != float64(int(value)) || p.controls[0].values[1] != value {
			t.Errorf("the value is %v", p.controls[0].values)
		}
		if c == nil && value != 2 {
			t.Errorf("the value %v was not set on the ranks", value)
		}
		if c != nil {
			if source := c.Take(); source != fmt.Sprintf("display.Set(\"n\", %v)", value) || c.Take() != "" {
				t.Errorf("the cell %q", source)
			}
		}
	})
}
