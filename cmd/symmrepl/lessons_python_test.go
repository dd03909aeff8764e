package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// The program of Python in the lesson about PyTorch, run beside a session that has run the lesson's
// cells before it, prints what the comments beside its prints say.
func TestLessonPython(t *testing.T) {
	t.Parallel()
	h := python(t, 4)
	lesson, err := tutorial.Find("17")
	if err != nil {
		t.Fatal(err)
	}
	program, step := "", 0
	for i, s := range lesson.Steps {
		for _, block := range codeBlocks(s.Text) {
			if strings.HasPrefix(block, "import symmrepl\n") {
				program, step = block, i+1
			}
		}
	}
	var want strings.Builder
	for line := range strings.Lines(program) {
		if call, comment, found := strings.Cut(line, "# "); found && strings.HasPrefix(call, "print(") {
			want.WriteString(comment)
		}
	}
	if got := strings.Count(want.String(), "\n"); got != 2 {
		t.Fatalf("the program has %d prints with comments, want 2:\n%s", got, program)
	}
	file := filepath.Join(h.dir, "lesson.py")
	if err := os.WriteFile(file, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	x := h.terminal("-n", "4", "--device", device())
	x.enter(fmt.Sprintf(":tutorial 17 %d", step))
	x.expect(fmt.Sprintf("step %d of ", step))
	x.enter("40 + 2") // the lesson's cells have ended
	x.expect("[0-3] 42\n")
	out, errs, err := h.runPython(time.Minute, h.dir, file)
	if err != nil || out != want.String() {
		t.Errorf("the program prints %q, want %q; %v\n%s", out, want.String(), err, errs)
	}
	x.enter(":quit!")
	x.exit(0)
}
