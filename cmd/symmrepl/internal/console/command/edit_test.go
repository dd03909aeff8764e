package command

import (
	"context"
	"errors"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func TestEdit(t *testing.T) {
	c, fake, out := newConsole()
	if c.Run(context.Background(), ":edit") != console.Failed {
		t.Error(":edit starts an editor without a terminal")
	}
	for _, entry := range []string{"x", "%%rank [0,2]\ny", ":cd /"} {
		c.Run(context.Background(), entry)
	}
	for _, test := range []struct {
		entry, opened, saved string
		ran                  string // "" if nothing runs
		outcome              console.Outcome
	}{
		{":edit 1", "x\n", "x + 1\n", "x + 1", console.Done},
		{":edit 2", "%%rank [0,2]\ny\n", "%%rank [1]\ny\n", "y", console.Done},
		{":edit 3", "%%cd \"/\"\n", "%%cd ..\n", "", console.Done},
		{":edit new", "", "z\n", "z", console.Done},
		{":edit", "z\n", "z\n", "", console.Done},
		{":edit", "z\n", " \n", "", console.Done},
		{":edit 9", "", "", "", console.Failed},
		{":edit x", "", "", "", console.Failed},
	} {
		ran := len(fake.Cells)
		r := c.Request(test.entry)
		r.Edit = func(_ context.Context, source string) (string, error) {
			if source != test.opened {
				t.Errorf("%s opened %q, want %q", test.entry, source, test.opened)
			}
			return test.saved, nil
		}
		if got := c.Console.Run(context.Background(), r); got != test.outcome {
			t.Errorf("%s: outcome %v: %s", test.entry, got, out)
		}
		var last string
		if len(fake.Cells) > ran {
			last = fake.Cells[len(fake.Cells)-1].Source
		}
		if last != test.ran {
			t.Errorf("%s ran %q, want %q", test.entry, last, test.ran)
		}
	}
	r := c.Request(":edit")
	r.Edit = func(context.Context, string) (string, error) { return "", errors.New("no editor") }
	if c.Console.Run(context.Background(), r) != console.Failed {
		t.Error(":edit ignores the editor's error")
	}
}
