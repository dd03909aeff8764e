package notebook

import (
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// A text console, as jupyter console and qtconsole, ignores update_display_data. A display of one
// line, such as a progress bar, is text there, without the end of its line, and an update overwrites
// the line. Other displays, such as pictures, cannot be replaced: of their updates only the last is
// shown, as another display.

// showInConsole shows a display that has a name or is an update in a text console, if the console
// needs that.
func (s *Screen) showInConsole(o session.Output, message Content) bool {
	d := o.Display
	if !s.Console || d.Clear || d.ID == "" {
		return false
	}
	text, rest, _ := strings.Cut(o.Text, "\n")
	oneLine := text != "" && rest == "" && !strings.ContainsAny(text, "\x1b\t\r")
	for kind := range d.Data {
		oneLine = oneLine && !strings.HasPrefix(kind, "image/")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !oneLine {
		if d.Update {
			s.late = message
		}
		return d.Update
	}
	begin := "\r"
	if s.bar != d.ID {
		s.closeBar()
		begin = ""
	}
	s.flush(true)
	s.bar = d.ID
	const eraseRest = "\x1b[K"
	s.publish("stream", Content{"name": "stdout", "text": begin + session.Prefix(o.Ranks, s.Printer.Size) + text + eraseRest})
	return true
}

// closeBar ends the line of a display. s.mu is held.
func (s *Screen) closeBar() {
	if s.bar != "" {
		s.bar = ""
		s.publish("stream", Content{"name": "stdout", "text": "\n"})
	}
}

// showLate publishes the last update of a display that has several lines or a picture, because
// another display follows, or none. s.mu is held.
func (s *Screen) showLate() {
	if late := s.late; late != nil {
		s.late = nil
		s.publish("display_data", late)
	}
}
