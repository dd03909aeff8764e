package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// Executing the display gallery gives the outputs that are stored in it. To store them again:
//
//	jupyter execute --inplace --NotebookClient.record_timing=False notebooks/display.ipynb
func TestGallery(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: executes a notebook")
	}
	if device() != "cpu" {
		t.Skip("the stored tables of tensors name the cpu device")
	}
	const file = "../../notebooks/display.ipynb"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := galleryOf(t, text)
	got := galleryOf(t, jupyter(t).executeNotebooks(4, "first", []string{file})[[2]string{file, "first"}])
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d cells, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("cell %d shows\n%v\nwant\n%v", i+1, got[i], want[i])
		}
	}
}

// widgetView is the form of an output that names a model of a widget, which is another in each kernel.
const widgetView = "application/vnd.jupyter.widget-view+json"

// galleryOf returns the outputs of each cell in the form of a notebook's file, without the
// session's remarks and the names of widgets' models.
func galleryOf(t *testing.T, text []byte) (cells [][]map[string]any) {
	t.Helper()
	var nb struct {
		Cells []struct {
			Outputs []map[string]any `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(text, &nb); err != nil {
		t.Fatal(err)
	}
	for _, cell := range nb.Cells {
		var outputs []map[string]any
		for _, output := range cell.Outputs {
			output = joined(output).(map[string]any)
			if data, ok := output["data"].(map[string]any); ok && data[widgetView] != nil {
				data[widgetView] = true
			}
			if data, ok := output["data"].(map[string]any); ok && output["output_type"] == "display_data" {
				if said, ok := data["text/plain"].(string); ok && withoutRemarks(said+"\n") == "" {
					continue
				}
			}
			outputs = append(outputs, output)
		}
		cells = append(cells, outputs)
	}
	return cells
}

// joined replaces each list of lines in v by one text, at any depth.
func joined(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = joined(v[key])
		}
	case []any:
		var text strings.Builder
		lines := len(v) > 0
		for i := range v {
			v[i] = joined(v[i])
			line, ok := v[i].(string)
			text.WriteString(line)
			lines = lines && ok
		}
		if lines {
			return text.String()
		}
	}
	return v
}
