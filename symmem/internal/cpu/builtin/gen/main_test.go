package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFiles(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s is stale: run go generate ./symmem/internal/cpu/builtin", name)
		}
	}
}
