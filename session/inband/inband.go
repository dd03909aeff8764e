// Package inband carries displays of cells, and text of several lines, in a rank's standard output. There a
// display keeps its place among the printed lines, and is compared between ranks line by line like
// text.
//
// A display is JSON in base64, cut into lines that have the form of a terminal's application
// program command. A terminal that gets such a line by mistake does not show it:
//
//	ESC _ symmrepl; hash ; number / count ; base64 ESC \ newline
//
// The hash covers the whole display. So lines of different displays differ, and ranks with equal
// displays have only equal lines.
package inband

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Display is one object in several forms, from which front ends choose.
type Display struct {
	// Data holds the forms by MIME type: text unchanged, binary data in base64, JSON as the decoded
	// value.
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	ID       string         `json:"id,omitempty"`     // the name under which the display may be updated
	Update   bool           `json:"update,omitempty"` // it replaces the display shown under ID
	Clear    bool           `json:"clear,omitempty"`  // remove the cell's earlier output; there is no Data
	Wait     bool           `json:"wait,omitempty"`   // with Clear: only when the next output is shown
	Input    bool           `json:"input,omitempty"`  // not shown: the rank asks for a line of standard input, here
	Note     bool           `json:"note,omitempty"`   // the text/plain is a remark of the session, not output of the cell
	Block    bool           `json:"block,omitempty"`  // the text/plain is text that one call printed: see WriteText
	Steps    *Steps         `json:"steps,omitempty"`  // it is a progress bar; a Decoder adds times to its forms
}

// Variable is an environment variable that is set, to any value, in processes whose standard output
// a session reads. Other processes must not write displays.
const Variable = "SYMMREPL_INBAND"

const (
	prefix = "\x1b_symmrepl;"
	suffix = "\x1b\\"
	// chunk is the number of base64 bytes in a line: less than the longest line that the fold
	// compares as a whole.
	chunk = 48 << 10
)

// Encode returns the lines of a display. Write them by one call, so that no other output comes
// between them. Encode refuses a display that cannot be encoded as JSON, or whose JSON is larger
// than 36 MiB.
func Encode(d Display) ([]byte, error) {
	if err := checkSize(leastSize(d)); err != nil {
		return nil, err // at once: to encode what is too large would take time and memory
	}
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if err := checkSize(len(b)); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	text := base64.StdEncoding.EncodeToString(b)
	count := (len(text) + chunk - 1) / chunk
	var out []byte
	for i := range count {
		part := text[i*chunk : min(len(text), (i+1)*chunk)]
		out = fmt.Appendf(out, "%s%s;%d/%d;%s%s\n", prefix, hex.EncodeToString(sum[:8]), i+1, count, part, suffix)
	}
	return out, nil
}

// leastSize returns the least number of bytes of JSON that the texts and the bytes of a display
// take.
func leastSize(d Display) (n int) {
	for _, value := range d.Data {
		switch v := value.(type) {
		case string:
			n += len(v)
		case []byte:
			n += base64.StdEncoding.EncodedLen(len(v))
		}
	}
	return n
}

// checkSize refuses a display whose JSON takes n bytes if that is too much.
func checkSize(n int) error {
	if largest := base64.StdEncoding.DecodedLen(maxLines * chunk); n > largest {
		return fmt.Errorf("it takes %d MiB, and %d are shown at most", n>>20, largest>>20)
	}
	return nil
}

// Remark shows a remark of the session: a line of text without its newline. If no session reads
// this process's standard output, the remark goes to standard error.
func Remark(text string) {
	if os.Getenv(Variable) != "" {
		if b, err := Encode(Display{Note: true, Data: map[string]any{"text/plain": text}}); err == nil {
			Write(b)
			return
		}
	}
	fmt.Fprintln(os.Stderr, text)
}

// Decoder finds displays in the output of ranks. The zero value is ready; it must not be used by
// several goroutines at once.
type Decoder struct {
	parts map[key][]string
	bars  bars
}

// key identifies a display of which a part has come.
type key struct {
	rank int
	hash string
}

// Piece is text or a display, with the ranks that printed it.
type Piece struct {
	Ranks   []int
	Text    string
	Display *Display
}

// Begun reports whether a beginning of a line may belong to a display.
func Begun(line []byte) bool { return bytes.Contains(line, []byte(prefix)) }

// Split takes text that ranks have printed alike, whole lines, and returns the text and the
// displays in it, in order.
func (d *Decoder) Split(ranks []int, text string) []Piece {
	var out []Piece
	for {
		before, rest, found := strings.Cut(text, prefix)
		if !found {
			break
		}
		line, after, whole := strings.Cut(rest, suffix+"\n")
		f, ok := parseFrame(line)
		if !whole || !ok {
			break // it only looks like a display
		}
		if before != "" {
			out = append(out, Piece{Ranks: ranks, Text: before})
		}
		if complete := d.add(ranks, f); complete != nil {
			shown, err := decode(d.take(complete[0], f.hash))
			for _, r := range complete[1:] {
				d.take(r, f.hash)
			}
			if err == nil {
				if shown.Steps != nil {
					d.bars.addTimes(shown, complete, time.Now())
				}
				out = append(out, Piece{Ranks: complete, Display: shown})
			}
		}
		text = after
	}
	if text != "" {
		out = append(out, Piece{Ranks: ranks, Text: text})
	}
	return out
}

// frame is one line.
type frame struct {
	hash          string
	number, count int
	data          string
}

func parseFrame(line string) (f frame, ok bool) {
	parts := strings.SplitN(line, ";", 3)
	if len(parts) != 3 || len(parts[0]) != 16 {
		return f, false
	}
	number, count, _ := strings.Cut(parts[1], "/")
	f.hash, f.data = parts[0], parts[2]
	var err1, err2 error
	f.number, err1 = strconv.Atoi(number)
	f.count, err2 = strconv.Atoi(count)
	return f, err1 == nil && err2 == nil && f.number >= 1 && f.number <= f.count && f.count <= maxLines
}

// maxLines bounds a display: to 48 MiB of base64, less than the Jupyter kernel buffers for a front
// end that is slow to read.
const maxLines = 1024

// add stores a line for each rank and returns the ranks whose display it completes.
func (d *Decoder) add(ranks []int, f frame) (complete []int) {
	if d.parts == nil {
		d.parts = map[key][]string{}
	}
	for _, r := range ranks {
		k := key{r, f.hash}
		if len(d.parts[k]) != f.number-1 { // a display without its end or its beginning
			delete(d.parts, k)
			if f.number != 1 {
				continue
			}
		}
		d.parts[k] = append(d.parts[k], f.data)
		if f.number == f.count {
			complete = append(complete, r)
		}
	}
	return complete
}

func (d *Decoder) take(rank int, hash string) string {
	k := key{rank, hash}
	defer delete(d.parts, k)
	return strings.Join(d.parts[k], "")
}

func decode(text string) (*Display, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var d Display
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// Plain returns the display as text, "" if it has no text form. The text ends with a newline.
func (d *Display) Plain() string {
	switch text := d.Data["text/plain"].(type) {
	case string:
		return strings.TrimSuffix(text, "\n") + "\n"
	case nil:
	default:
		return fmt.Sprintln(text)
	}
	if len(d.Data) == 0 {
		return ""
	}
	var kinds []string
	for kind := range d.Data {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return "(" + strings.Join(kinds, ", ") + ")\n"
}
