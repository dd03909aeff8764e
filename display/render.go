package display

import (
	"bytes"
	"fmt"
	"image"
	"io"
	"net/http"
	"os"
)

// The interfaces that values implement to be shown in rich form. A value that implements several of
// them is offered in all of these forms; the first two come before methods of one form.
type (
	// Renderer returns all forms and their metadata.
	Renderer interface{ Render() Data }
	// SimpleRenderer returns all forms.
	SimpleRenderer interface{ SimpleRender() MIMEMap }

	HTMLer       interface{ HTML() string }
	JavaScripter interface{ JavaScript() string }
	JPEGer       interface{ JPEG() []byte }
	JSONer       interface{ JSON() map[string]any }
	Latexer      interface{ Latex() string }
	Markdowner   interface{ Markdown() string }
	PDFer        interface{ PDF() []byte }
	PNGer        interface{ PNG() []byte }
	SVGer        interface{ SVG() string }
)

// Render returns the rich forms of a Data, an image.Image or a value that implements the interfaces
// above; ok is false for other values.
func Render(x any) (d Data, ok bool) {
	if data, is := x.(Data); is {
		return data, true
	}
	add := func(mimeType string, form any) {
		d.Data = merged(d.Data, MIMEMap{mimeType: form})
	}
	missing := func(mimeType string) bool {
		_, has := d.Data[mimeType]
		return !has
	}
	if img, is := x.(image.Image); is {
		d = Image(img)
	}
	if r, is := x.(Renderer); is {
		of := r.Render()
		d.Data, d.Metadata, d.Transient = merged(d.Data, of.Data), merged(d.Metadata, of.Metadata), of.Transient
	}
	if r, is := x.(SimpleRenderer); is {
		d.Data = merged(d.Data, r.SimpleRender())
	}
	if r, is := x.(HTMLer); is && missing(MIMETypeHTML) {
		add(MIMETypeHTML, r.HTML())
	}
	if r, is := x.(JavaScripter); is && missing(MIMETypeJavaScript) {
		add(MIMETypeJavaScript, r.JavaScript())
	}
	if r, is := x.(JPEGer); is && missing(MIMETypeJPEG) {
		add(MIMETypeJPEG, r.JPEG())
	}
	if r, is := x.(JSONer); is && missing(MIMETypeJSON) {
		add(MIMETypeJSON, r.JSON())
	}
	if r, is := x.(Latexer); is && missing(MIMETypeLatex) {
		add(MIMETypeLatex, r.Latex())
	}
	if r, is := x.(Markdowner); is && missing(MIMETypeMarkdown) {
		add(MIMETypeMarkdown, r.Markdown())
	}
	if r, is := x.(PDFer); is && missing(MIMETypePDF) {
		add(MIMETypePDF, r.PDF())
	}
	if r, is := x.(PNGer); is && missing(MIMETypePNG) {
		add(MIMETypePNG, r.PNG())
	}
	if r, is := x.(SVGer); is && missing(MIMETypeSVG) {
		add(MIMETypeSVG, r.SVG())
	}
	return d, d.Data != nil
}

// Any returns a Data for a string, a []byte, an io.Reader, an io.WriterTo or a value that Render
// accepts. If mimeType is empty, Any detects the type from the bytes; a string is then plain text.
// Any panics for other values.
func Any(mimeType string, data any) Data {
	if d, ok := Render(data); ok {
		if _, has := d.Data[MIMETypeText]; !has {
			d.Data = merged(d.Data, MIMEMap{MIMETypeText: fmt.Sprint(data)})
		}
		return d
	}
	var b []byte
	var err error
	switch data := data.(type) {
	case string:
		if mimeType == "" {
			mimeType = MIMETypeText
		}
		return MakeData(mimeType, data)
	case []byte:
		b = data
	case io.Reader:
		b, err = io.ReadAll(data)
	case io.WriterTo:
		var text bytes.Buffer
		_, err = data.WriteTo(&text)
		b = text.Bytes()
	default:
		panic(fmt.Errorf("display: a %T cannot be shown: give it a method such as HTML() string, or show a string, []byte, image.Image or io.Reader", data))
	}
	if err != nil {
		panic(fmt.Errorf("display: %w", err))
	}
	if mimeType == "" {
		mimeType = http.DetectContentType(b)
	}
	if isText(mimeType) {
		return MakeData(mimeType, string(b))
	}
	return MakeData(mimeType, b)
}

// Auto is Any with an empty MIME type.
func Auto(data any) Data { return Any("", data) }

// File shows the contents of a file. It panics if the file cannot be read.
func File(mimeType string, path string) Data {
	b, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return Any(mimeType, b)
}
