package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// Notebooks show what is stored in them when Jupyter's nbclient executes them: on four ranks what their files hold, on two what is recorded of
// their tutorials; when all cells are run once more, and when the kernel is restarted before that.
func TestNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("notebooks are executed in long tests only")
	}
	t.Parallel()
	files, err := filepath.Glob("../../notebooks/[0-9][0-9]-*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("notebooks: %v, %v", files, err)
	}
	if device() != "cpu" {
		files = slices.DeleteFunc(files, func(file string) bool { return strings.Contains(file, aboutSanitizer) })
	}
	for ranks, runs := range map[int]string{4: "first", 2: "first,again,restarted"} {
		t.Run(fmt.Sprint(ranks, " ranks"), func(t *testing.T) {
			t.Parallel()
			executed := jupyter(t).executeNotebooks(ranks, runs, files)
			for _, file := range files {
				lesson, err := tutorial.Find(strings.TrimSuffix(filepath.Base(file), ".ipynb"))
				if err != nil {
					t.Fatal(err)
				}
				want := storedNotebook(t, file, lesson, ranks)
				for run := range strings.SplitSeq(runs, ",") {
					t.Run(lesson.Name+"/"+run, func(t *testing.T) {
						before := 0
						if run == "again" {
							before = len(lesson.Runs())
						}
						compareNotebooks(t, ranks, lesson, before, notebookOf(t, executed[[2]string{file, run}]), want)
					})
				}
			}
		})
	}
}

// executedNotebook is what nbformat's files have of code cells and their outputs.
type executedNotebook struct {
	Cells []struct {
		Type    string `json:"cell_type"`
		Outputs []struct {
			Type      string         `json:"output_type"`
			Name      string         `json:"name"`
			Text      multiline      `json:"text"`
			Data      map[string]any `json:"data"`
			Count     int            `json:"execution_count"`
			Error     string         `json:"ename"`
			Traceback []string       `json:"traceback"`
		} `json:"outputs"`
	} `json:"cells"`
}

// multiline is text, in a file often as its lines.
type multiline string

func (m *multiline) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*m = multiline(whole)
		return nil
	}
	var lines []string
	err := json.Unmarshal(text, &lines)
	*m = multiline(strings.Join(lines, ""))
	return err
}

// storedNotebook returns a notebook as it has to be on so many ranks.
func storedNotebook(t *testing.T, file string, lesson tutorial.Lesson, ranks int) executedNotebook {
	t.Helper()
	text, err := os.ReadFile(file)
	if ranks == 2 {
		var recorded []byte
		if recorded, err = os.ReadFile(recordingOf(lesson, ranks)); err != nil {
			t.Fatal(err)
		}
		recording, failed := tutorial.ParseRecording(string(recorded))
		if failed != nil {
			t.Fatal(failed)
		}
		text, err = lesson.Notebook(recording)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return notebookOf(t, text)
}

// recordingOf returns the file with what a lesson shows on 4 ranks or on 2.
func recordingOf(lesson tutorial.Lesson, ranks int) string {
	return "../../tutorials/" + lesson.Name + map[int]string{4: ".out", 2: ".2.out"}[ranks]
}

// notebookOf returns the notebook in the text of a file.
func notebookOf(t *testing.T, text []byte) (nb executedNotebook) {
	t.Helper()
	if err := json.Unmarshal(text, &nb); err != nil {
		t.Fatal(err)
	}
	return nb
}

// executeNotebooks returns notebooks as they are after a run, in the form of their files, by file and run.
func (h home) executeNotebooks(ranks int, runs string, files []string) map[[2]string]json.RawMessage {
	h.t.Helper()
	out, errs, err := h.runPython(8*time.Minute, "", append([]string{"testdata/jupyter/execute.py", strconv.Itoa(ranks), runs}, files...)...)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, errs)
	}
	executed := map[[2]string]json.RawMessage{}
	for line := range strings.Lines(out) {
		var key [2]string
		var nb json.RawMessage
		if err := json.Unmarshal([]byte(line), &[]any{&key[0], &key[1], &nb}); err != nil {
			h.t.Fatal(err)
		}
		executed[key] = nb
	}
	h.expectNothingLeft()
	return executed
}

// compareNotebooks compares each cell's outputs with those wanted. before is how many cells the kernel has run before.
func compareNotebooks(t *testing.T, ranks int, lesson tutorial.Lesson, before int, got, want executedNotebook) {
	t.Helper()
	if len(got.Cells) != len(want.Cells) {
		t.Fatalf("%d cells, want %d", len(got.Cells), len(want.Cells))
	}
	number := 0
	for i, w := range want.Cells {
		if w.Type != "code" {
			continue
		}
		number++
		cell := lesson.Runs()[number-1]
		if cell.Varies {
			continue
		}
		g := comparable(t, ranks, shownBy(t, got, i, number+before))
		if w := comparable(t, ranks, shownBy(t, want, i, number)); g != w {
			t.Errorf("cell %d, %s:%d, shows\n%s\nwant\n%s", i+1, cell.File, cell.Line, g, w)
		}
	}
}

// waiting is what the session says of a cell that takes long on a busy machine: a line, and one for each group of ranks; then how long it took.
var waiting = regexp.MustCompile(`(?m)^(\[[0-9,-]+\] )?.* has run for [0-9.]+ s( and waits)? \(.*\n((\[[0-9,-]+\] )?  .*\n)*|^In\[[0-9]+\] took [0-9.]+ s\n`)

// withoutRemarks leaves out what the session itself says.
func withoutRemarks(text string) string { return waiting.ReplaceAllString(text, "") }

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// shownBy returns what a cell shows to which the kernel gave a number, without remarks of the session. Errors cite it without that number.
func shownBy(t *testing.T, nb executedNotebook, i, number int) tutorial.Shown {
	t.Helper()
	var shown tutorial.Shown
	plain := func(data map[string]any) string {
		var text multiline
		form, err := json.Marshal(data["text/plain"])
		if err == nil {
			err = json.Unmarshal(form, &text)
		}
		if err != nil {
			t.Error(err)
		}
		return string(text) + "\n"
	}
	add := func(kind, text string) {
		text = strings.ReplaceAll(text, fmt.Sprintf("In[%d]", number), "In[]")
		if last := len(shown) - 1; last >= 0 && shown[last].Kind == kind {
			shown[last].Text += text
		} else {
			shown = append(shown, tutorial.Piece{Kind: kind, Text: text})
		}
	}
	for _, o := range nb.Cells[i].Outputs {
		switch o.Type {
		case "stream":
			if text := withoutRemarks(string(o.Text)); text != "" {
				add(o.Name, text)
			}
		case "execute_result":
			if o.Count != number {
				t.Errorf("the result of In[%d] is called Out[%d]", number, o.Count)
			}
			add(tutorial.Value, plain(o.Data))
		case "display_data":
			if o.Data["text/html"] != nil || strings.Contains(plain(o.Data), "    repair: ") {
				add(tutorial.Finding, plain(o.Data))
			} else if text := withoutRemarks(plain(o.Data)); text != "" {
				t.Errorf("cell %d displays %s, which recordings do not hold", i+1, text)
			}
		case "error":
			add(tutorial.Error+" "+o.Error, colour.ReplaceAllString(strings.Join(o.Traceback, "\n")+"\n", ""))
		default:
			t.Errorf("cell %d shows a %s, which recordings do not hold", i+1, o.Type)
		}
	}
	return shown
}
