package display

import (
	"fmt"
	"mime"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/session/inband"
)

// Display shows d now, in its place among what is printed. It returns an error if d cannot be encoded or written.
func Display(d Data) error {
	id, _ := d.Transient["display_id"].(string)
	return write(inband.Display{Data: forms(d), Metadata: d.Metadata, ID: id})
}

// Update shows d in the place of what was displayed under id.
func Update(id string, d Data) error {
	return write(inband.Display{Data: forms(d), Metadata: d.Metadata, ID: id, Update: true})
}

// Named gives d the name by which Update finds it once it was displayed.
func Named(id string, d Data) Data {
	d.Transient = merged(d.Transient, MIMEMap{"display_id": id})
	return d
}

// Clear takes away what the cell has shown so far; with wait, when the next thing is shown. Text on a terminal stays.
func Clear(wait bool) error { return write(inband.Display{Clear: true, Wait: wait}) }

// write hands a display to the session; a program that runs without one prints its text. What cannot be encoded is told on standard error, too: cells
// seldom look at what Display returns.
func write(d inband.Display) error {
	if os.Getenv(inband.Variable) == "" {
		_, err := os.Stdout.WriteString(d.Plain())
		return err
	}
	b, err := inband.Encode(d)
	if err != nil {
		err = fmt.Errorf("display: %w", err)
		fmt.Fprintln(os.Stderr, err)
		return err
	}
	_, err = os.Stdout.Write(b)
	return err
}

// forms are those of d with a plain text among them.
func forms(d Data) MIMEMap {
	if _, has := d.Data[MIMETypeText]; has || len(d.Data) == 0 {
		return d.Data
	}
	return merged(d.Data, MIMEMap{MIMETypeText: d.plain()})
}

func (d Data) plain() string {
	shown := inband.Display{Data: d.Data}
	for mimeType, form := range d.Data {
		if _, has := d.Data[MIMETypeText]; !has && len(d.Data) == 1 {
			return plainText(mimeType, form)
		}
	}
	return strings.TrimSuffix(shown.Plain(), "\n")
}

// isText reports whether a form is text rather than bytes.
func isText(mimeType string) bool {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return false
	}
	switch kind {
	case MIMETypeJavaScript, MIMETypeJSON, MIMETypeSVG:
		return true
	}
	return strings.HasPrefix(kind, "text/")
}
