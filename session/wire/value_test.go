package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// Forms of a value that do not fit, or cannot be encoded as JSON, are left out, and the text says
// so.
func TestLargeValues(t *testing.T) {
	const most = 6 << 20
	html, png := strings.Repeat("<", most/6-100), strings.Repeat("A", most/2) // JSON writes < as six bytes
	for name, c := range map[string]struct {
		in    session.Result
		text  string
		forms string
	}{
		"fits": {session.Result{Value: "v", Data: map[string]any{"text/html": html}}, "v", "text/html"},
		"the largest": {session.Result{Value: "v", Data: map[string]any{"text/html": html, "image/png": png}},
			"v\n(text/html is left out: it takes 5 MiB, and all forms of a value may take 6)", "image/png"},
		"not encodable": {session.Result{Value: "v", Data: map[string]any{"application/json": func() {}, "text/html": "h"}},
			"v\n(application/json is left out: json: unsupported type: func())", "text/html"},
		"metadata": {session.Result{Value: "v", Data: map[string]any{"text/html": "h"}, Metadata: map[string]any{"f": func() {}}},
			"v\n(its metadata is left out: json: unsupported type: func())", "text/html"},
	} {
		payload, rich := EncodeValue(c.in, most)
		var got RichValue
		if err := json.Unmarshal(payload, &got); err != nil || !rich {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Text != c.text || len(got.Data) != 1 || got.Data[c.forms] != c.in.Data[c.forms] {
			t.Errorf("%s: %q with %d forms, want %q with %s", name, got.Text, len(got.Data), c.text, c.forms)
		}
	}
	if payload, rich := EncodeValue(session.Result{Value: "v"}, most); rich || string(payload) != "v" {
		t.Errorf("plain text is encoded as %q", payload)
	}
}
