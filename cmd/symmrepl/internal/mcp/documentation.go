package mcp

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session"
)

// Where resources are.
const (
	lessonsAt = "symmrepl://lessons/"
	kernelsAt = "symmrepl://kernels/"
	headersIn = "kernels/include"
)

// page is a resource.
type page struct {
	uri, title, mime string
	text             string
}

// pages returns the lessons and the headers of kernels.
var pages = sync.OnceValues(readPages)

func readPages() ([]page, error) {
	lessons, err := tutorial.All()
	if err != nil {
		return nil, err
	}
	var list []page
	for _, l := range lessons {
		text, err := symmrepl.Tutorials.ReadFile("tutorials/" + l.Name + ".go")
		if err != nil {
			return nil, err
		}
		list = append(list, page{lessonsAt + l.Name, l.Title, "text/x-go", string(text)})
	}
	err = fs.WalkDir(symmrepl.Sources, headersIn, func(name string, d fs.DirEntry, err error) error {
		if ext := path.Ext(name); err != nil || d.IsDir() || ext != ".cuh" && ext != ".h" {
			return err
		}
		text, err := fs.ReadFile(symmrepl.Sources, name)
		header := strings.TrimPrefix(name, headersIn+"/")
		list = append(list, page{kernelsAt + header, "the header " + header + " of kernels", "text/x-cuda", string(text)})
		return err
	})
	return list, err
}

// addResources adds the pages to a server.
func (c *client) addResources(server *sdk.Server) error {
	list, err := pages()
	for _, p := range list {
		r := &sdk.Resource{URI: p.uri, Name: strings.TrimPrefix(p.uri, "symmrepl://"), Title: p.title, MIMEType: p.mime,
			Size: int64(len(p.text))}
		server.AddResource(r, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: p.uri, MIMEType: p.mime, Text: p.text}}}, nil
		})
	}
	return err
}

// question holds the arguments of documentation.
type question struct {
	Query string `json:"query" jsonschema:"a name such as symm.AllReduce, or words"`
}

// found is the answer to documentation.
type found struct {
	Text    string `json:"text,omitempty" jsonschema:"the declaration and the documentation, if the query is a name"`
	Lines   []line `json:"lines" jsonschema:"lines of resources that contain all words of the query"`
	LeftOut string `json:"left_out,omitempty"`
}

// line is a line of a resource.
type line struct {
	URI  string `json:"uri"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// maxQuery bounds the length of a query.
const maxQuery = 400

// maxLines bounds the lines that documentation finds.
const maxLines = 40

// documentation is the tool that searches the documentation.
func (c *client) documentation(ctx context.Context, _ *sdk.CallToolRequest, q question) (*sdk.CallToolResult, found, error) {
	words := strings.Fields(strings.ToLower(q.Query))
	if len(words) == 0 || len(q.Query) > maxQuery {
		return nil, found{}, fmt.Errorf("query: a name or words are expected, of at most %d bytes", maxQuery)
	}
	var o omissions
	answers, err := c.console.Session.Inspect(ctx, []int{0}, session.Query{Topic: session.TopicDoc, Arg: strings.TrimSpace(q.Query)})
	if err != nil {
		return nil, found{}, err
	}
	out := found{Lines: []line{}}
	for _, a := range answers {
		if a.Err == nil {
			out.Text = o.text("the documentation", a.Text, maxOutput/2)
		}
	}
	list, err := pages()
	if err != nil {
		return nil, found{}, err
	}
	more := 0
	for _, p := range list {
		n := 0
		for text := range strings.Lines(p.text) {
			n++
			switch {
			case !containsAll(strings.ToLower(text), words):
			case len(out.Lines) == maxLines:
				more++
			default:
				out.Lines = append(out.Lines, line{p.uri, n, o.text("a line", strings.TrimSpace(text), 400)})
			}
		}
	}
	if more > 0 {
		o.parts = append(o.parts, count.Of(more, "line"))
	}
	out.LeftOut = o.String()
	return nil, out, nil
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
