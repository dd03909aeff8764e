package display

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // for the size in the text
	_ "image/jpeg" // for the size in the text
	"image/png"
	"maps"
	"strings"
)

// MIME types of the forms that have functions of their own here.
const (
	MIMETypeHTML       = "text/html"
	MIMETypeJavaScript = "application/javascript"
	MIMETypeJPEG       = "image/jpeg"
	MIMETypeJSON       = "application/json"
	MIMETypeLatex      = "text/latex"
	MIMETypeMarkdown   = "text/markdown"
	MIMETypePDF        = "application/pdf"
	MIMETypePNG        = "image/png"
	MIMETypeSVG        = "image/svg+xml"
	MIMETypeText       = "text/plain"
)

// MIMEMap holds one thing in several forms, by MIME type: text as a string, binary data as []byte, JSON as what encodes to it.
type MIMEMap = map[string]any

// Data is what a front end gets to show.
type Data struct {
	Data      MIMEMap
	Metadata  MIMEMap
	Transient MIMEMap // "display_id" is the name under which it can be updated
}

// String is the plain text, or which forms there are instead.
func (d Data) String() string { return d.plain() }

// MakeData makes a Data of one form and a text for those that cannot show it.
func MakeData(mimeType string, data any) Data {
	return MakeData3(mimeType, plainText(mimeType, data), data)
}

// MakeData3 makes a Data of one form and the text plaintext.
func MakeData3(mimeType string, plaintext string, data any) Data {
	return Data{Data: MIMEMap{MIMETypeText: plaintext, mimeType: data}}
}

// MIME makes a Data of several forms.
func MIME(data, metadata MIMEMap) Data { return Data{Data: data, Metadata: metadata} }

// HTML shows a piece of HTML.
func HTML(html string) Data { return MakeData(MIMETypeHTML, html) }

// JavaScript runs a script in the notebook's page, where that allows it.
func JavaScript(javascript string) Data { return MakeData(MIMETypeJavaScript, javascript) }

// JSON shows a value as a tree.
func JSON(json map[string]any) Data { return MakeData(MIMETypeJSON, json) }

// Latex shows a formula within a line.
func Latex(latex string) Data {
	return MakeData3(MIMETypeLatex, latex, "$"+strings.Trim(latex, "$")+"$")
}

// Math shows a formula as a paragraph.
func Math(latex string) Data {
	return MakeData3(MIMETypeLatex, latex, "$$"+strings.Trim(latex, "$")+"$$")
}

// Markdown shows text with Markdown's marks.
func Markdown(markdown string) Data { return MakeData(MIMETypeMarkdown, markdown) }

// SVG shows a picture.
func SVG(svg string) Data { return MakeData(MIMETypeSVG, svg) }

// PNG shows a picture.
func PNG(png []byte) Data { return MakeData(MIMETypePNG, png) }

// JPEG shows a picture.
func JPEG(jpeg []byte) Data { return MakeData(MIMETypeJPEG, jpeg) }

// PDF shows a document.
func PDF(pdf []byte) Data { return MakeData(MIMETypePDF, pdf) }

// Image shows a picture, as PNG. It panics if that cannot be made of it.
func Image(img image.Image) Data {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(fmt.Errorf("display.Image: %w", err))
	}
	d := PNG(b.Bytes())
	size := img.Bounds().Size()
	d.Metadata = MIMEMap{MIMETypePNG: MIMEMap{"width": size.X, "height": size.Y}}
	return d
}

// plainText is what is shown of data where only text can be. Bytes are described.
func plainText(mimeType string, data any) string {
	switch data := data.(type) {
	case string:
		return strings.TrimSuffix(data, "\n")
	case []byte:
		if size, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			return fmt.Sprintf("(%s, %d × %d, %d bytes)", mimeType, size.Width, size.Height, len(data))
		}
		return fmt.Sprintf("(%s, %d bytes)", mimeType, len(data))
	}
	return fmt.Sprint(data)
}

// merged returns both maps' entries; those of b hold.
func merged(a, b MIMEMap) MIMEMap {
	if a == nil && b == nil {
		return nil
	}
	out := MIMEMap{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
