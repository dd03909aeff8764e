package display

import (
	"bytes"
	"fmt"
	"image"
	"io"
	"net/http"
	"os"
)

// The interfaces by which a value says how it is shown. One that has several of them is offered in all of these forms.
type (
	// Renderer says everything.
	Renderer interface{ Render() Data }
	// SimpleRenderer says the forms.
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

// Render returns a value as it says it is to be shown; ok is false when it does not say. Images are shown, too.
func Render(x any) (d Data, ok bool) {
	if data, is := x.(Data); is {
		return data, true
	}
	add := func(mimeType string, form any) {
		d.Data = merged(d.Data, MIMEMap{mimeType: form})
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
	if r, is := x.(HTMLer); is {
		add(MIMETypeHTML, r.HTML())
	}
	if r, is := x.(JavaScripter); is {
		add(MIMETypeJavaScript, r.JavaScript())
	}
	if r, is := x.(JPEGer); is {
		add(MIMETypeJPEG, r.JPEG())
	}
	if r, is := x.(JSONer); is {
		add(MIMETypeJSON, r.JSON())
	}
	if r, is := x.(Latexer); is {
		add(MIMETypeLatex, r.Latex())
	}
	if r, is := x.(Markdowner); is {
		add(MIMETypeMarkdown, r.Markdown())
	}
	if r, is := x.(PDFer); is {
		add(MIMETypePDF, r.PDF())
	}
	if r, is := x.(PNGer); is {
		add(MIMETypePNG, r.PNG())
	}
	if r, is := x.(SVGer); is {
		add(MIMETypeSVG, r.SVG())
	}
	return d, d.Data != nil
}

// Any makes a Data of a string, a []byte, an io.Reader, an io.WriterTo or a value that says how it is shown. Without a MIME type it is found out from
// the bytes; a string is then plain text. It panics for what cannot be shown.
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

// Auto is Any without a MIME type.
func Auto(data any) Data { return Any("", data) }

// File shows a file. It panics if that cannot be read.
func File(mimeType string, path string) Data {
	b, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return Any(mimeType, b)
}
