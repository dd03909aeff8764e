package notebook

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
)

// A page of a notebook has all lines of its outputs one below the other. Of a long text the first
// lines are a stream, as they come. The others become one display: while the text goes on, their
// number and the last of them; at its end a box that opens and scrolls, and the last of them below it.

const (
	firstLines = 1000        // of a text, which are shown as they come
	lastLines  = 10          // of a text, which are shown below the box
	maxLast    = 16 << 10    // bytes of these
	maxBox     = 8 << 20     // bytes of a box
	foldEvery  = time.Second // between two updates of the display
)

// fold is the part of a text that is not shown as it comes.
type fold struct {
	lines     int    // of the text, which were shown as they came
	id        string // of the display; "" if the text is not long
	before    int    // long texts before this
	begun     time.Time
	box, last []byte // last begins where box ends, or left bytes behind it
	more      int    // lines of box and behind it
	left      int
	published bool
}

// say publishes text of the current stream, as it comes or folded. s.mu is held.
func (s *Screen) say(text string) {
	f := &s.fold
	if f.id == "" {
		shown := text
		if more := strings.Count(text, "\n"); s.Console || s.Whole || f.lines+more <= firstLines {
			f.lines += more
		} else {
			at := 0
			for ; f.lines < firstLines; f.lines++ {
				at += strings.IndexByte(text[at:], '\n') + 1
			}
			shown = text[:at]
			f.before++
			f.id, f.begun = fmt.Sprintf("%s text %d", s.id, f.before), time.Now()
		}
		if shown != "" {
			s.publish("stream", Content{"name": s.stream, "text": shown})
		}
		text = text[len(shown):]
	}
	if f.id == "" {
		return
	}
	f.add(text)
	if time.Since(f.begun) >= foldEvery {
		f.begun = time.Now()
		last := lastOf(f.last)
		if len(f.last) == 0 {
			last = lastOf(f.box)
		}
		s.showFold(fmt.Sprintf("… %d more lines so far, of which the last are\n%s", f.more, last), "")
	}
}

// add adds text to the part that is not shown.
func (f *fold) add(text string) {
	f.more += strings.Count(text, "\n")
	n := min(len(text), maxBox-len(f.box))
	f.box, f.last = append(f.box, text[:n]...), append(f.last, text[n:]...)
	if drop := len(f.last) - maxLast; drop > maxLast {
		f.left += drop
		f.last = append(f.last[:0], f.last[drop:]...)
	}
}

// endFold shows a long text in its box, because another output follows, or none. s.mu is held.
func (s *Screen) endFold() {
	f := &s.fold
	if f.id != "" {
		box, said := f.box, ""
		last := lastOf(f.last)
		if len(f.last) == 0 {
			last = lastOf(box)
			box = box[:len(box)-len(last)]
		} else if left := f.left + len(f.last) - len(last); left > 0 {
			said = fmt.Sprintf("symmrepl: %.1f MiB are left out here: a notebook shows %d MiB of a long text; write more to a file\n",
				float64(left)/(1<<20), maxBox>>20)
		}
		page := fmt.Sprintf(`<details class="symm-long"><summary>%d more lines</summary>`+
			`<div style="max-height:40em;overflow:auto">%s</div></details>`, f.more, render.Preformatted(string(box))) +
			render.Preformatted(said+string(last))
		s.showFold(string(box)+said+string(last), page)
	}
	s.fold = fold{before: f.before}
}

// showFold shows or updates the display of a long text. page is its HTML, "" if there is none.
func (s *Screen) showFold(text, page string) {
	data := Content{"text/plain": valid(text)}
	if page != "" {
		data["text/html"] = valid(page)
	}
	kind := "update_display_data"
	if !s.fold.published {
		kind, s.fold.published = "display_data", true
	}
	s.publish(kind, Content{"data": data, "metadata": Content{}, "transient": Content{"display_id": s.fold.id}})
}

// lastOf returns the last lines of a text, of long ones the last bytes.
func lastOf(text []byte) []byte {
	at := len(bytes.TrimSuffix(text, []byte("\n")))
	for range lastLines {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			break
		}
	}
	return text[max(at+1, len(text)-maxLast):]
}
