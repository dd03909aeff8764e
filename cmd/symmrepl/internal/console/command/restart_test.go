package command

import (
	"context"
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func TestRestart(t *testing.T) {
	c, fake, _ := newConsole()
	for _, entry := range []string{":restart", ":restart 2", ":restart replay", ":restart 0,1 replay"} {
		if c.Run(context.Background(), entry) != console.Done {
			t.Errorf("%s failed", entry)
		}
	}
	if want := [][]int{nil, {2}, nil, {0, 1}}; !reflect.DeepEqual(fake.Restarted, want) {
		t.Errorf("restarted %v, want %v", fake.Restarted, want)
	}
	if want := []bool{false, false, true, true}; !reflect.DeepEqual(fake.Replayed, want) {
		t.Errorf("replayed %v, want %v", fake.Replayed, want)
	}
}
