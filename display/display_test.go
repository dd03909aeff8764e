package display

import (
	"image"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session/inband"
)

func TestData(t *testing.T) {
	onePixel := Image(image.NewGray(image.Rect(0, 0, 3, 2)))
	png, _ := onePixel.Data[MIMETypePNG].([]byte)
	for name, c := range map[string]struct{ got, want Data }{
		"HTML":       {HTML("<b>"), Data{Data: MIMEMap{"text/html": "<b>", "text/plain": "<b>"}}},
		"Markdown":   {Markdown("* a"), Data{Data: MIMEMap{"text/markdown": "* a", "text/plain": "* a"}}},
		"JavaScript": {JavaScript("1"), Data{Data: MIMEMap{"application/javascript": "1", "text/plain": "1"}}},
		"SVG":        {SVG("<svg/>"), Data{Data: MIMEMap{"image/svg+xml": "<svg/>", "text/plain": "<svg/>"}}},
		"Latex":      {Latex("$x$"), Data{Data: MIMEMap{"text/latex": "$x$", "text/plain": "$x$"}}},
		"Math":       {Math("x"), Data{Data: MIMEMap{"text/latex": "$$x$$", "text/plain": "x"}}},
		"JSON":       {JSON(MIMEMap{"a": 1}), Data{Data: MIMEMap{"application/json": MIMEMap{"a": 1}, "text/plain": "map[a:1]"}}},
		"JPEG":       {JPEG([]byte{1}), Data{Data: MIMEMap{"image/jpeg": []byte{1}, "text/plain": "(image/jpeg, 1 byte)"}}},
		"PDF":        {PDF([]byte{1}), Data{Data: MIMEMap{"application/pdf": []byte{1}, "text/plain": "(application/pdf, 1 byte)"}}},
		"Image": {onePixel, Data{
			Data:     MIMEMap{"image/png": png, "text/plain": "(image/png, 3 × 2, " + strconv.Itoa(len(png)) + " bytes)"},
			Metadata: MIMEMap{"image/png": MIMEMap{"width": 3, "height": 2}},
		}},
		"MIME":       {MIME(MIMEMap{"a/b": 1}, MIMEMap{"c": 2}), Data{Data: MIMEMap{"a/b": 1}, Metadata: MIMEMap{"c": 2}}},
		"Auto text":  {Auto("x"), Data{Data: MIMEMap{"text/plain": "x"}}},
		"Auto bytes": {Auto(png), PNG(png)},
		"Any reader": {Any("text/html", strings.NewReader("<b>")), HTML("<b>")},
		"Auto Data":  {Auto(HTML("<b>")), HTML("<b>")},
		"Auto image": {Auto(image.NewGray(image.Rect(0, 0, 3, 2))), onePixel},
	} {
		if len(c.got.Data) == 2 && c.got.Data[MIMETypeText] != c.want.Data[MIMETypeText] && name == "Auto image" {
			continue // its text is that of the image value
		}
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %#v, want %#v", name, c.got, c.want)
		}
	}
	defer func() {
		if text := "display: a struct {} cannot be shown"; !strings.HasPrefix(asText(recover()), text) {
			t.Errorf("want a panic that begins with %q", text)
		}
	}()
	Auto(struct{}{})
}

func asText(v any) string {
	if err, ok := v.(error); ok {
		return err.Error()
	}
	return ""
}

// several implements several of the interfaces.
type several struct{}

func (several) Render() Data          { return MIME(MIMEMap{"a/b": 1}, MIMEMap{"m": 2}) }
func (several) SimpleRender() MIMEMap { return MIMEMap{"c/d": 3} }
func (several) HTML() string          { return "h" }
func (several) JavaScript() string    { return "j" }
func (several) JPEG() []byte          { return []byte{1} }
func (several) JSON() map[string]any  { return MIMEMap{"x": 1} }
func (several) Latex() string         { return "l" }
func (several) Markdown() string      { return "m" }
func (several) PDF() []byte           { return []byte{2} }
func (several) PNG() []byte           { return []byte{3} }
func (several) SVG() string           { return "s" }

func TestRender(t *testing.T) {
	d, ok := Render(several{})
	want := Data{Metadata: MIMEMap{"m": 2}, Data: MIMEMap{
		"a/b": 1, "c/d": 3, "text/html": "h", "application/javascript": "j", "image/jpeg": []byte{1}, "application/json": MIMEMap{"x": 1},
		"text/latex": "l", "text/markdown": "m", "application/pdf": []byte{2}, "image/png": []byte{3}, "image/svg+xml": "s",
	}}
	if !ok || !reflect.DeepEqual(d, want) {
		t.Errorf("%#v, want %#v", d, want)
	}
	if d, ok := Render(5); ok {
		t.Errorf("a number is shown as %v", d)
	}
}

// printed returns the standard output of f, run in a session or without one.
func printed(t *testing.T, inSession bool, f func()) string {
	t.Helper()
	if inSession {
		t.Setenv(inband.Variable, "1")
	}
	file, err := os.CreateTemp(t.TempDir(), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = was }()
	f()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// displays returns the displays that text holds in band.
func displays(text string) []inband.Display {
	var d inband.Decoder
	var out []inband.Display
	for _, p := range d.Split([]int{0}, text) {
		if p.Display != nil {
			out = append(out, *p.Display)
		}
	}
	return out
}

func TestDisplay(t *testing.T) {
	if got := printed(t, false, func() { Display(HTML("<b>")); Clear(false) }); got != "<b>\n" {
		t.Errorf("without a session: %q", got)
	}
	got := displays(printed(t, true, func() {
		Display(Named("x", PNG([]byte("a"))))
		Update("x", MIME(MIMEMap{"text/html": "h"}, nil))
		Clear(true)
	}))
	want := []inband.Display{
		{Data: map[string]any{"image/png": "YQ==", "text/plain": "(image/png, 1 byte)"}, ID: "x"},
		{Data: map[string]any{"text/html": "h", "text/plain": "h"}, ID: "x", Update: true},
		{Clear: true, Wait: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestProgress(t *testing.T) {
	got := displays(printed(t, true, func() {
		p := NewProgress("work", 1000)
		for range 1000 {
			p.Add(1)
		}
		p.Add(5)
	}))
	if len(got) != 101 {
		t.Fatalf("%d displays, want one for each percent and the first", len(got))
	}
	first := inband.Display{ID: "progress work", Steps: &inband.Steps{Total: 1000}, Data: map[string]any{
		"text/plain": "work " + strings.Repeat("░", 30) + "   0 %, 0/1000",
		"text/html":  `work <progress max="100" value="0"></progress> 0 %, 0/1000`,
	}}
	last := inband.Display{ID: "progress work", Update: true, Steps: &inband.Steps{Done: 1000, Total: 1000}, Data: map[string]any{
		"text/plain": "work " + strings.Repeat("█", 30) + " 100 %, 1000/1000",
		"text/html":  `work <progress max="100" value="100"></progress> 100 %, 1000/1000`,
	}}
	if !reflect.DeepEqual(got[0], first) || !reflect.DeepEqual(got[100], last) {
		t.Errorf("%+v … %+v, want %+v … %+v", got[0], got[100], first, last)
	}
}
