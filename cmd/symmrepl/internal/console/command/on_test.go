package command

import (
	"context"
	"reflect"
	"testing"
)

func TestOnIsSticky(t *testing.T) {
	c, fake, out := newConsole()
	for _, entry := range []string{":on 0,2", "x", ":on 1 y", "z", ":on", ":on all", "w", ":on"} {
		c.Run(context.Background(), entry)
	}
	var got [][]int
	for _, cell := range fake.Cells {
		got = append(got, cell.Ranks)
	}
	if want := [][]int{{0, 2}, {1}, {0, 2}, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("cells ran on %v, want %v", got, want)
	}
	if want := "cells run on ranks 0,2\ncells run on all ranks\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}
