package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The display gallery shows what is stored in it, picture by picture. To store it again:
//
//	jupyter execute --inplace --NotebookClient.record_timing=False notebooks/display.ipynb
func TestGallery(t *testing.T) {
	if testing.Short() {
		t.Skip("notebooks are executed in long tests only")
	}
	if device() != "cpu" {
		t.Skip("the tables of tensors name the device that the gallery was stored with, cpu")
	}
	const file = "../../notebooks/display.ipynb"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want, got gallery
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	executed := jupyter(t).executeNotebooks(4, "first", []string{file})[[2]string{file, "first"}]
	if err := json.Unmarshal(executed, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Cells) != len(want.Cells) || len(want.Cells) == 0 {
		t.Fatalf("%d cells, want %d", len(got.Cells), len(want.Cells))
	}
	for i := range want.Cells {
		if g, w := whole(got.Cells[i].Outputs), whole(want.Cells[i].Outputs); !reflect.DeepEqual(g, w) {
			t.Errorf("cell %d shows\n%v\nwant\n%v", i+1, g, w)
		}
	}
}

// whole joins what files hold as lines.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = whole(v[key])
		}
	case []any:
		var text strings.Builder
		lines := len(v) > 0
		for i := range v {
			v[i] = whole(v[i])
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

// gallery is a notebook whose outputs are compared as they are.
type gallery struct {
	Cells []struct {
		Outputs any `json:"outputs"`
	} `json:"cells"`
}
