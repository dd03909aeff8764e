package command

import (
	"context"
	"testing"
)

func TestStop(t *testing.T) {
	c, fake, out := newConsole()
	c.Run(context.Background(), ":stop")
	fake.Runs = "cell[7]"
	c.Run(context.Background(), ":stop")
	if want := "no cell runs\ncell[7] is interrupted\n"; out.String() != want || fake.Interrupts != 2 {
		t.Errorf("printed %q after %d interrupts, want %q", out, fake.Interrupts, want)
	}
}
