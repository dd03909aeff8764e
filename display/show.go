package display

import (
	"fmt"
	"mime"
	"os"
	"strings"

	"github.com/symmrepl/symmrepl/session/inband"
)

// Display shows d now, in order with the printed output. It returns an error if d cannot be encoded
// or written.
func Display(d Data) error {
	id, _ := d.Transient["display_id"].(string)
	return write(inband.Display{Data: forms(d), Metadata: d.Metadata, ID: id})
}

// Update replaces the output that was displayed under id by d.
func Update(id string, d Data) error {
	return write(inband.Display{Data: forms(d), Metadata: d.Metadata, ID: id, Update: true})
}

// Named returns d with the name id, by which Update finds it after it was displayed.
func Named(id string, d Data) Data {
	d.Transient = merged(d.Transient, MIMEMap{"display_id": id})
	return d
}

// Clear removes the cell's output so far; with wait, only when the next output is shown. Text on a
// terminal stays.
func Clear(wait bool) error { return write(inband.Display{Clear: true, Wait: wait}) }

// write passes a display to the session; a program that runs without a session prints the plain
// text. An encoding error is also printed on standard error, since cells rarely check the error
// that Display returns.
func write(d inband.Display) error {
	if !inSession() {
		_, err := os.Stdout.WriteString(d.Plain())
		return err
	}
	b, err := inband.Encode(d)
	if err != nil {
		err = fmt.Errorf("display: %w", err)
		fmt.Fprintln(os.Stderr, err)
		return err
	}
	_, err = inband.Write(b)
	return err
}

// inSession reports whether a session reads the standard output of this process.
func inSession() bool { return os.Getenv(inband.Variable) != "" }

// forms returns the forms of d, with a plain text added if there is none.
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

// isText reports whether forms of a MIME type are text rather than bytes.
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
