package command

import (
	"os"
	"testing"
)

func TestCommandsPage(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Page() {
		t.Error("docs/commands.md is stale; renew it by: go generate ./cmd/symmrepl/internal/console/command")
	}
}
