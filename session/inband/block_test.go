package inband

import (
	"os"
	"path/filepath"
	"testing"
)

// Text of several lines is a block only in the standard output that the session reads: files that cells
// put in its place get the text as it is.
func TestWriteText(t *testing.T) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout; own.Store(nil) }()
	for name, c := range map[string]struct {
		text     string
		replaced bool
		block    bool
	}{
		"lines":             {text: "a\nb\n", block: true},
		"the last is empty": {text: "a\n\n", block: true},
		"one line":          {text: "a\n"},
		"none":              {},
		"no whole line":     {text: "a"},
		"the last is open":  {text: "a\nb"},
		"not UTF-8":         {text: "a\n\xff\n"},
		"another output":    {text: "a\nb\n", replaced: true},
	} {
		read := filepath.Join(t.TempDir(), "read")
		file, err := os.Create(read)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout = file
		own.Store(newOutput(file))
		if c.replaced {
			read = filepath.Join(t.TempDir(), "other")
			if os.Stdout, err = os.Create(read); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := WriteText([]byte(c.text)); n != len(c.text) || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		os.Stdout.Close()
		got, err := os.ReadFile(read)
		if err != nil {
			t.Fatal(err)
		}
		var d Decoder
		pieces := d.Split([]int{0}, string(got))
		isBlock := len(pieces) == 1 && pieces[0].Display != nil && pieces[0].Display.Block && pieces[0].Display.Plain() == c.text
		if isBlock != c.block || !c.block && string(got) != c.text {
			t.Errorf("%s: %q", name, got)
		}
	}
}
