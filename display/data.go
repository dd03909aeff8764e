package display

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // to decode the size that the plain text shows
	_ "image/jpeg" // likewise
	"image/png"
	"maps"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
)

// MIME types of the forms that have a constructor in this package.
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

// MIMEMap holds several forms of one output, by MIME type: text as a string, binary data as a
// []byte, JSON as a value that encodes to it.
type MIMEMap = map[string]any

// Data is one output for a front end to show.
type Data struct {
	Data      MIMEMap
	Metadata  MIMEMap
	Transient MIMEMap // "display_id" is the name that Update refers to
}

// String returns the plain text, or a description of the other forms if there is none.
func (d Data) String() string { return d.plain() }

// MakeData returns a Data of one form, with a plain text for front ends that cannot show it.
func MakeData(mimeType string, data any) Data {
	return MakeData3(mimeType, plainText(mimeType, data), data)
}

// MakeData3 returns a Data of one form and the plain text plaintext.
func MakeData3(mimeType string, plaintext string, data any) Data {
	return Data{Data: MIMEMap{MIMETypeText: plaintext, mimeType: data}}
}

// MIME returns a Data of several forms.
func MIME(data, metadata MIMEMap) Data { return Data{Data: data, Metadata: metadata} }

// HTML shows an HTML fragment.
func HTML(html string) Data { return MakeData(MIMETypeHTML, html) }

// JavaScript runs a script in the notebook's page, if the notebook allows scripts.
func JavaScript(javascript string) Data { return MakeData(MIMETypeJavaScript, javascript) }

// JSON shows a value as a tree.
func JSON(json map[string]any) Data { return MakeData(MIMETypeJSON, json) }

// Latex shows an inline formula.
func Latex(latex string) Data {
	return MakeData3(MIMETypeLatex, latex, "$"+strings.Trim(latex, "$")+"$")
}

// Math shows a formula in a paragraph of its own.
func Math(latex string) Data {
	return MakeData3(MIMETypeLatex, latex, "$$"+strings.Trim(latex, "$")+"$$")
}

// Markdown shows Markdown text.
func Markdown(markdown string) Data { return MakeData(MIMETypeMarkdown, markdown) }

// SVG shows a picture.
func SVG(svg string) Data { return MakeData(MIMETypeSVG, svg) }

// PNG shows a picture.
func PNG(png []byte) Data { return MakeData(MIMETypePNG, png) }

// JPEG shows a picture.
func JPEG(jpeg []byte) Data { return MakeData(MIMETypeJPEG, jpeg) }

// PDF shows a document.
func PDF(pdf []byte) Data { return MakeData(MIMETypePDF, pdf) }

// Image shows a picture as PNG. It panics if the picture cannot be encoded.
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

// plainText returns the text for front ends that show only text. It describes bytes by their type
// and size.
func plainText(mimeType string, data any) string {
	switch data := data.(type) {
	case string:
		return strings.TrimSuffix(data, "\n")
	case []byte:
		if size, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			return fmt.Sprintf("(%s, %d × %d, %s)", mimeType, size.Width, size.Height, count.Of(len(data), "byte"))
		}
		return fmt.Sprintf("(%s, %s)", mimeType, count.Of(len(data), "byte"))
	}
	return fmt.Sprint(data)
}

// merged returns the entries of both maps; those of b take precedence.
func merged(a, b MIMEMap) MIMEMap {
	if a == nil && b == nil {
		return nil
	}
	out := MIMEMap{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
