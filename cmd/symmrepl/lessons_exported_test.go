package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// What the lesson about PyTorch shows of an exported module is what the export of its own file has.
func TestLessonExported(t *testing.T) {
	t.Parallel()
	lesson, err := tutorial.Find("17")
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t, 1)
	module := filepath.Join(h.dir, "k.py")
	if r := h.run("", "export", "../../tutorials/"+lesson.Name+".go", "-n", "4", "-o", module); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	text, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	var compared []string
	for _, step := range lesson.Steps {
		for _, block := range codeBlocks(step.Text) {
			first, _, _ := strings.Cut(block, "\n")
			switch {
			case strings.HasPrefix(first, "source"), strings.HasPrefix(first, "average ="):
			case strings.HasPrefix(first, "# Cell"):
				block = strings.TrimSuffix(strings.ReplaceAll("    "+block, "\n", "\n    "), "    ")
			default:
				continue
			}
			compared = append(compared, first)
			if !strings.Contains(string(text), block) {
				t.Errorf("the lesson shows\n%s\nbut the module has\n%s", block, text)
			}
		}
	}
	if got, want := strings.Join(compared, ", "),
		`source2 = symm.Source(, average = source2.kernel("average", "symm::Handle", "float*", "int"), # Cell 1.`; got != want {
		t.Errorf("the lesson shows %q, want %q", got, want)
	}
	if strings.Contains(string(text), "Not carried over, because PyTorch has no Div") || !strings.Contains(string(text), "# Cell 3.\n    symm.show(") {
		t.Errorf("the lesson's check is not in the module:\n%s", text)
	}
}

// codeBlocks returns the indented blocks of Markdown without their indents, each with its last newline.
func codeBlocks(text string) (blocks []string) {
	var block strings.Builder
	end := func() {
		if block.Len() > 0 {
			blocks = append(blocks, strings.TrimRight(block.String(), "\n")+"\n")
		}
		block.Reset()
	}
	for line := range strings.Lines(text + "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case indented:
			block.WriteString(code)
		case strings.TrimSpace(line) == "" && block.Len() > 0:
			block.WriteString("\n")
		default:
			end()
		}
	}
	end()
	return blocks
}
