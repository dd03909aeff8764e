package notebook

import (
	"fmt"
	"strings"
	"testing"
)

// outputs are the outputs of a screen as front ends have them: streams are joined, and a display is
// replaced by its updates.
type outputs struct {
	list []Content
	many int // messages
}

func (o *outputs) publish(kind string, c any) {
	message := c.(Content)
	o.many++
	id := func(c Content) any { t, _ := c["transient"].(Content); return t["display_id"] }
	last := len(o.list) - 1
	switch {
	case kind == "stream" && last >= 0 && o.list[last]["name"] == message["name"]:
		o.list[last]["text"] = o.list[last]["text"].(string) + message["text"].(string)
	case kind == "update_display_data":
		for i := range o.list {
			if id(o.list[i]) == id(message) {
				o.list[i] = message
			}
		}
	default:
		o.list = append(o.list, message)
	}
}

// A long text is a stream of its first lines, and one display with the others: all of them, up to a
// limit that the display names. After another output the lines are counted anew.
func TestLongText(t *testing.T) {
	numbers := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintln(&b, i, "<i>")
		}
		return b.String()
	}
	run := func(text string, pieces int, console bool) *outputs {
		got := &outputs{}
		s := NewScreen(1, "In[1]", "id", 1, got.publish)
		s.Console = console
		for len(text) > 0 {
			n := min(len(text), len(text)/pieces+1)
			s.Output(says(text[:n], 0))
			text = text[n:]
		}
		s.End()
		return got
	}
	for _, pieces := range []int{1, 7, 1000} {
		if got := run(numbers(0, firstLines), pieces, false).list; len(got) != 1 || got[0]["text"] != numbers(0, firstLines) {
			t.Fatalf("%d lines in %d pieces are %d outputs", firstLines, pieces, len(got))
		}
		got := run(numbers(0, 40000), pieces, false)
		if len(got.list) != 2 || got.list[0]["text"] != numbers(0, firstLines) {
			t.Fatalf("40000 lines in %d pieces are %d outputs", pieces, len(got.list))
		}
		data := got.list[1]["data"].(Content)
		if data["text/plain"] != numbers(firstLines, 40000) {
			t.Errorf("the text of the display has %d bytes", len(data["text/plain"].(string)))
		}
		page := data["text/html"].(string)
		box, below, _ := strings.Cut(page, "</details>")
		for _, number := range []int{firstLines, 20000, 40000 - lastLines - 1} {
			if line := fmt.Sprintf("%d &lt;i&gt;", number); !strings.Contains(box, line) {
				t.Errorf("the box lacks %q", line)
			}
		}
		if strings.Contains(page, "<i>") || strings.Count(below, "\n") != lastLines-1 || !strings.Contains(page, "<summary>39000 more lines</summary>") {
			t.Errorf("the page ends with %q", below)
		}
	}
	if got := run(numbers(0, 40000), 7, true).list; len(got) != 1 || got[0]["text"] != numbers(0, 40000) {
		t.Errorf("in a text console there are %d outputs", len(got))
	}

	line := strings.Repeat("x", 99) + "\n"
	got := run(strings.Repeat(line, 1_000_000)+"the end\n", 50, false) // 100 MB
	text := got.list[1]["data"].(Content)["text/plain"].(string)
	if !strings.Contains(text, "symmrepl: 87.3 MiB are left out here: a notebook shows 8 MiB of a long text; write more to a file\n") ||
		!strings.HasSuffix(text, line+"the end\n") || len(text) > maxBox+maxLast+200 || got.many > 7000 {
		t.Errorf("100 MB are %d bytes in %d messages: …%s", len(text), got.many, text[len(text)-1500:])
	}

	between := &outputs{}
	s := NewScreen(1, "In[1]", "id", 1, between.publish)
	for range 2 {
		s.Output(says(numbers(0, firstLines+1), 0))
		s.Output(shows("text/html", "a", 0))
	}
	s.End()
	if len(between.list) != 6 {
		t.Errorf("two long texts, each before a display, are %d outputs", len(between.list))
	}
}
