package command

import (
	"context"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	c, _, out := newConsole()
	for _, entry := range []string{"x := 1", "%%rank [1,2]\nif x {\n}", ":cd /", ":history"} {
		c.Run(context.Background(), entry)
	}
	want := "cell[1] x := 1\ncell[2] on 1,2 if x {\n               }\ncell[3] %%cd \"/\"\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	out.Reset()
	c.Run(context.Background(), ":history 1")
	if !strings.HasPrefix(out.String(), "cell[3]") {
		t.Errorf(":history 1 printed %q", out)
	}
}
