package notebook

import (
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// isText reports whether a text console shows a display only as text: it has no picture.
func isText(d *session.Display) bool {
	for kind := range d.Data {
		if strings.HasPrefix(kind, "image/") {
			return false
		}
	}
	return !d.Clear
}

// showLate publishes the last update of a picture, because another output follows. A text console
// cannot replace the picture.
func (s *Screen) showLate() {
	if late := s.late; late != nil {
		s.late = nil
		s.publish("display_data", late)
	}
}
