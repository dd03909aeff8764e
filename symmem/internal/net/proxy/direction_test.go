package proxy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDirection holds that a file in C includes only headers of files before its own.
func TestDirection(t *testing.T) {
	order := []string{"board", "transport", "copier", "watcher", "atomic", "message", "order", "proxy.h", "state", "memory", "command", "recorder", "sender", "receiver", "proxy.c"}
	at := func(file string) int {
		return slices.IndexFunc(order, func(o string) bool { return o == file || o == strings.TrimSuffix(file, filepath.Ext(file)) })
	}
	files, err := filepath.Glob("*.[ch]")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	include := regexp.MustCompile(`(?m)^#include "(.*)"$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if at(file) < 0 {
			t.Errorf("%s has no place in the order", file)
		}
		for _, m := range include.FindAllStringSubmatch(string(text), -1) {
			own := strings.TrimSuffix(m[1], ".h") == strings.TrimSuffix(file, ".c")
			if header := at(filepath.Base(m[1])); !own && (header < 0 || header >= at(file)) {
				t.Errorf("%s includes %s, which is not before it", file, m[1])
			}
		}
	}
}
