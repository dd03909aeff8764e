package notebook

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// bar is a display of ranks, as package display's Progress makes it.
func bar(percent int, update bool, ranks ...int) session.Output {
	text := fmt.Sprintf("work %d %%", percent)
	return session.Output{Ranks: ranks, Stream: session.Stdout, Text: text + "\n", Display: &session.Display{
		ID: "progress work", Update: update, Data: map[string]any{"text/plain": text, "text/html": fmt.Sprintf("work <progress value=%d>", percent)}}}
}

// Ranks that make different progress have a bar each, in one display.
func TestProgressByRank(t *testing.T) {
	var got []string
	s := NewScreen(4, "In[1]", "id", 1, func(kind string, c any) {
		data := c.(Content)["data"].(Content)
		got = append(got, fmt.Sprintf("%s %v | %v", kind, strings.ReplaceAll(data["text/plain"].(string), "\n", " / "), data["text/html"]))
	})
	for _, o := range []session.Output{
		bar(0, false, 0, 1, 2, 3), bar(10, true, 0, 2), bar(20, true, 1), bar(10, true, 1, 3), // together again
		bar(0, false, 0, 1, 2, 3), // another bar of this name
	} {
		s.Output(o)
	}
	lagging := bar(0, false, 0, 1)
	lagging.Display.ID = "other"
	s.Output(lagging)
	lagging = bar(0, false, 2, 3)
	lagging.Display.ID = "other"
	s.Output(lagging)
	part := func(ranks string, percent int) string {
		return fmt.Sprintf("<div><code>[%s]</code> work <progress value=%d></div>", ranks, percent)
	}
	if want := []string{
		"display_data work 0 % | work <progress value=0>",
		"update_display_data [0,2] work 10 % / [1,3] work 0 % | " + part("0,2", 10) + part("1,3", 0),
		"update_display_data [0,2] work 10 % / [1] work 20 % / [3] work 0 % | " + part("0,2", 10) + part("1", 20) + part("3", 0),
		"update_display_data work 10 % | work <progress value=10>",
		"display_data work 0 % | work <progress value=0>",
		"display_data [0,1] work 0 % | " + part("0,1", 0),
		"update_display_data work 0 % | work <progress value=0>",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Pictures cannot be shown together: they come as the ranks show them. So do updates of what an
// earlier entry shows.
func TestOthersAreNotGathered(t *testing.T) {
	s := NewScreen(2, "In[1]", "id", 1, func(string, any) {})
	picture := session.Output{Ranks: []int{0}, Display: &session.Display{ID: "p", Data: map[string]any{"text/plain": "p", "image/png": "AA=="}}}
	if got := s.gather(picture); !reflect.DeepEqual(got, picture) {
		t.Errorf("%+v", got)
	}
	if late := bar(3, true, 1); !reflect.DeepEqual(s.gather(late), late) {
		t.Error("an update of an earlier entry's display")
	}
}
