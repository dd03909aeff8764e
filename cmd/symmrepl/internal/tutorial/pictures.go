package tutorial

import (
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial/drawing"
)

// pictureLine matches a line of Markdown that shows a picture of package drawing, with its caption
// and its name. A block of indented lines that follows is the picture in letters, for terminals.
var pictureLine = regexp.MustCompile(`(?m)^!\[(.*)\]\(picture:([a-z-]+)\)\n?((?:\n*(?: {4}.*(?:\n|$)))*)`)

// Pictures lists the names of the pictures in a text.
func Pictures(text string) (names []string) {
	for _, m := range pictureLine.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	return names
}

// Plain returns a text of a tutorial for a terminal: it names a picture, and keeps the one in letters.
func Plain(text string) string {
	return pictureLine.ReplaceAllString(text, "Picture $2 in the notebook: $1\n$3")
}

// pictured returns a text for a notebook, with its pictures in place of those in letters.
func pictured(text string) (string, error) {
	var failed error
	shown := pictureLine.ReplaceAllStringFunc(text, func(found string) string {
		m := pictureLine.FindStringSubmatch(found)
		svg, err := drawing.SVG(m[2])
		if err != nil {
			failed = err
		}
		// As HTML, because converters of notebooks refuse SVG in an image of Markdown.
		return fmt.Sprintf("<img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\">\n\n*%s*\n",
			html.EscapeString(m[1]), base64.StdEncoding.EncodeToString([]byte(svg)), strings.TrimSpace(m[1]))
	})
	return shown, failed
}
