package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/session"
)

// info describes this kernel.
func (k *Kernel) info() content {
	banner := "symmrepl: one prompt for N GPUs. :help lists the commands."
	if c, _ := k.ready(); c != nil {
		banner = fmt.Sprintf("symmrepl: one prompt for %s. :help lists the commands.", session.FormatSize(c.Size))
	}
	return content{
		"protocol_version":       protocolVersion,
		"implementation":         "symmrepl",
		"implementation_version": k.version,
		"language_info": content{
			"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go"), "mimetype": "text/x-go", "file_extension": ".go",
			"pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": "script",
		},
		"banner":             banner,
		"debugger":           true,
		"supported_features": []string{"debugger"},
		"help_links":         []content{{"text": "The Go standard library", "url": "https://pkg.go.dev/std"}},
	}
}

// cursor is a position in code, in characters.
type cursor struct {
	Code     string `json:"code"`
	Position *int   `json:"cursor_pos"`
}

// at returns the position in bytes.
func (c cursor) at() int {
	if c.Position == nil {
		return len(c.Code)
	}
	n := 0
	for i := range c.Code {
		if n >= *c.Position {
			return i
		}
		n++
	}
	return len(c.Code)
}

// complete answers complete_request.
func (k *Kernel) complete(ctx context.Context, r *request) content {
	var asked cursor
	if err := json.Unmarshal(r.content, &asked); err != nil {
		return malformed(err)
	}
	before := asked.Code[:asked.at()]
	end := utf8.RuneCountInString(before)
	start := end
	matches, types := []string{}, []content{}
	if c, _ := k.ready(); c != nil {
		candidates, word := c.Complete(ctx, c.LastEntry(before))
		start = end - utf8.RuneCountInString(word)
		for _, found := range candidates {
			matches = append(matches, found.Name)
			types = append(types, content{"start": start, "end": end, "text": found.Name, "type": found.Kind, "signature": found.Type})
		}
	}
	return content{"matches": matches, "cursor_start": start, "cursor_end": end, "metadata": content{"_jupyter_types_experimental": types}}
}

// inspect answers inspect_request.
func (k *Kernel) inspect(ctx context.Context, r *request) content {
	var asked struct {
		cursor
		Detail int `json:"detail_level"` // 1 asks for the source, too
	}
	if err := json.Unmarshal(r.content, &asked); err != nil {
		return malformed(err)
	}
	data := content{}
	if c, _ := k.ready(); c != nil {
		detail := console.Brief
		if asked.Detail > 0 {
			detail = console.WithSource
		}
		if text := c.ExplainAt(ctx, asked.Code, asked.at(), detail); text != "" {
			data = explanation(text)
		}
	}
	return content{"found": len(data) > 0, "data": data, "metadata": content{}}
}

// explanation is a text about a name in its forms. Front ends fill the paragraphs of the HTML, and
// break lines of the text that are too long for them once more.
func explanation(text string) content {
	return content{"text/plain": text, "text/html": console.HTMLText(text)}
}

// isComplete answers is_complete_request.
func (k *Kernel) isComplete(r *request) content {
	var asked cursor
	if err := json.Unmarshal(r.content, &asked); err != nil {
		return malformed(err)
	}
	k.noteTyped(r, asked.Code)
	c, _ := k.ready()
	if c == nil {
		return content{"status": "unknown"}
	}
	entry := c.LastEntry(asked.Code)
	switch {
	case c.NeedsMore(entry):
		return content{"status": "incomplete", "indent": strings.Repeat("    ", gotokens.Depth(entry))}
	case c.Malformed(entry):
		return content{"status": "invalid"}
	}
	return content{"status": "complete"}
}

// past answers history_request.
func (k *Kernel) past(r *request) content {
	var asked historyRequest
	if err := json.Unmarshal(r.content, &asked); err != nil {
		return malformed(err)
	}
	return content{"history": k.history.find(asked)}
}
