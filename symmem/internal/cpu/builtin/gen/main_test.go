package main

import (
	"os"
	"testing"
)

func TestOperations(t *testing.T) {
	got, err := os.ReadFile("../operations.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != operations() {
		t.Error("operations.h is stale: run go generate ./symmem/internal/cpu/builtin")
	}
}
