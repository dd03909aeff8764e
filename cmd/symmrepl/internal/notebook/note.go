package notebook

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// ShowsNotesInPlace implements console.InPlacePrinter: a later table of waits has the present times.
func (s *Screen) ShowsNotesInPlace() bool { return !s.Console }

// Note implements console.Printer.
func (s *Screen) Note(ranks []int, format string, args ...any) {
	s.note(session.Output{Ranks: ranks, Stream: session.Note, Text: fmt.Sprintf(format, args...) + "\n"})
}

// note shows a remark of the session as a display of its own, because notebooks draw standard error
// like errors. A note replaces the previous one of its topic.
func (s *Screen) note(o session.Output) {
	message := s.noteMessage(o)
	if o.Topic == "" {
		s.CatchUp()
		s.publish("display_data", message)
		return
	}
	s.mu.Lock()
	_, shown := s.topics[o.Topic]
	s.topics[o.Topic] = o
	s.mu.Unlock()
	if shown && !s.Console {
		s.publish("update_display_data", message)
		return
	}
	s.CatchUp()
	s.publish("display_data", message)
}

// noteMessage is a remark as the content of a display.
func (s *Screen) noteMessage(o session.Output) Content {
	var text bytes.Buffer
	render.New(&text, &text, s.Printer.Size, false).Output(session.Output{Ranks: o.Ranks, Stream: session.Note, Text: o.Text})
	plain := strings.TrimSuffix(text.String(), "\n")
	data, transient := Content{"text/plain": plain}, Content{}
	if picture := render.CycleSVG(o.Cycle); picture != "" {
		data["text/html"] = `<pre style="margin:0;background:transparent">` + html.EscapeString(plain) + "</pre>" + picture
	}
	if o.Topic != "" {
		transient["display_id"] = s.id + " " + o.Topic
	}
	return Content{"data": data, "metadata": Content{}, "transient": transient}
}

// settle says in the entry's notes with a topic, which describe waits, that these are over: if the
// entry failed, its end and the last table, otherwise only the time that it took. s.mu is held.
func (s *Screen) settle() {
	if s.Console {
		return
	}
	for _, o := range s.topics {
		took := time.Since(s.started).Seconds()
		over := session.Output{Topic: o.Topic, Text: fmt.Sprintf("%s took %.1f s\n", s.title, took)}
		if s.failed != nil {
			_, table, _ := strings.Cut(o.Text, "\n")
			over = o
			over.Text = fmt.Sprintf("%s %s after %.1f s\n", s.title, s.failed.ending(), took)
			if table != "" {
				over.Text = strings.TrimSuffix(over.Text, "\n") + ", until when it waited:\n" + table
			}
		}
		s.publish("update_display_data", s.noteMessage(over))
	}
}

// ending says in two words how an entry that failed has ended.
func (f *Failure) ending() string {
	if f.Name == string(session.KindInterrupted) {
		return "was interrupted"
	}
	return "has failed"
}

// drawCycle shows a picture of the ranks that waited in a cycle when their waits were ended.
func (s *Screen) drawCycle(errs []*session.Error) {
	for _, e := range errs {
		if picture := render.CycleSVG(e.Cycle); picture != "" && !s.Console {
			text := fmt.Sprintf("%d ranks waited in a cycle", len(e.Cycle))
			s.publish("display_data", Content{"data": Content{"text/plain": text, "text/html": picture}, "metadata": Content{},
				"transient": Content{}})
			return
		}
	}
}
