package serve

import (
	"bytes"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// Protocol is the version of the messages in this file.
const Protocol = 1

// greeting is the first line.
type greeting struct {
	Version  string     `json:"symmrepl"`
	Protocol int        `json:"protocol"`
	Size     int        `json:"size"`
	Folder   string     `json:"folder"`             // for files of tensors
	Attached string     `json:"attached,omitempty"` // the directory of the session, if it outlives this process
	Ranks    []rankInfo `json:"ranks"`
}

// request is a line of the program. Besides ID exactly one field is set.
type request struct {
	ID       uint64   `json:"id"`
	Run      *run     `json:"run"`
	Line     *line    `json:"line"`   // the answer to an ask of the entry with this ID
	Cancel   bool     `json:"cancel"` // interrupt the request with this ID
	Get      *get     `json:"get"`
	Put      *put     `json:"put"`
	Ranks    bool     `json:"ranks"`
	Restart  *restart `json:"restart"`
	Inspect  *inspect `json:"inspect"`
	Findings bool     `json:"findings"` // the sanitizer's findings in this program's entries so far
}

// run asks to run an entry: a cell, or whatever the prompt takes.
type run struct {
	Source string `json:"source"`
	Ranks  []int  `json:"ranks"`  // those that run its cells; none: all
	Name   string `json:"name"`   // in positions; "": "cell[N]"
	Line   int    `json:"line"`   // of Name on which Source begins
	Silent bool   `json:"silent"` // its cells are not recorded in the history
	Input  bool   `json:"input"`  // the program answers an ask
	Show   string `json:"show"`   // if not empty, the entry also comes in the form of notebooks, and this is its number there
	Stop   string `json:"stop"`   // how its user interrupts an entry, for remarks; "Ctrl-C" when empty
}

type line struct {
	Text string `json:"text"`
	End  bool   `json:"end"` // standard input has ended
}

// get asks for the value of an expression on ranks; none: all.
type get struct {
	Expr   string `json:"expr"`
	Ranks  []int  `json:"ranks"`
	Socket string `json:"socket"` // if not empty, ranks send the memory of a tensor there, by Tensor.ExportTo
}

// put asks to make the value of an expression the value of a variable, or the contents of files the
// value of a variable or of a tensor that an expression names.
type put struct {
	Name     string `json:"name"`
	Text     string `json:"text"` // the expression; the fields below are for files
	File     string `json:"file"` // {rank} in it is the rank
	DType    string `json:"dtype"`
	Shape    []int  `json:"shape"`
	Ordinary bool   `json:"ordinary"` // not symmetric, if a tensor has to be made
	Ranks    []int  `json:"ranks"`    // none: all; otherwise the tensor is an ordinary one
}

type restart struct {
	Ranks  []int `json:"ranks"` // none: all
	Replay bool  `json:"replay"`
}

type inspect struct {
	Topic string `json:"topic"`
	Arg   string `json:"arg"`
	Ranks []int  `json:"ranks"` // none: all
}

// answer is a line to the program. Its ID is 0 if it answers a line that is no request. Besides ID
// exactly one field is set, and with Refused perhaps Argument; Output, Show and Ask are
// events, and the others end the request.
type answer struct {
	ID       uint64     `json:"id"`
	Output   *output    `json:"output,omitempty"`
	Show     *show      `json:"show,omitempty"`
	Ask      bool       `json:"ask,omitempty"`
	Reply    *reply     `json:"reply,omitempty"`
	Got      []got      `json:"got,omitempty"`
	Ranks    []rankInfo `json:"ranks,omitempty"`
	Answers  []told     `json:"answers,omitempty"`
	Findings *[]finding `json:"findings,omitempty"`
	Done     bool       `json:"done,omitempty"`
	Refused  string     `json:"refused,omitempty"`  // why the request was not carried out
	Argument string     `json:"argument,omitempty"` // the field of get or put that is the reason
	Lost     string     `json:"lost,omitempty"`     // the session has ended
}

// output is output that is equal on ranks.
type output struct {
	Ranks   []int             `json:"ranks"`
	Stream  string            `json:"stream"` // "stdout", "stderr", "note" of the session, "console" for the output of a command
	Text    string            `json:"text"`
	Topic   string            `json:"topic,omitempty"` // a note replaces the one before with the same topic
	Hang    []session.HangRow `json:"hang,omitempty"`
	Display *session.Display  `json:"display,omitempty"`
}

// show is a message of Jupyter's protocol.
type show struct {
	Kind    string `json:"kind"`
	Content any    `json:"content"`
}

// reply is the outcome of an entry.
type reply struct {
	Cell     int               `json:"cell"` // its last cell; 0 if it had none
	Elapsed  float64           `json:"elapsed"`
	Values   []value           `json:"values,omitempty"`
	Errors   []failed          `json:"errors,omitempty"`
	Findings []finding         `json:"findings,omitempty"`
	Refused  string            `json:"refused,omitempty"` // why the console did not do it
	Failure  *notebook.Failure `json:"failure,omitempty"` // the errors in the form of notebooks
	Quit     bool              `json:"quit,omitempty"`
}

type value struct {
	Ranks    []int          `json:"ranks"`
	Text     string         `json:"text"`
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// failed is an error that is equal on ranks.
type failed struct {
	Kind   session.Kind      `json:"kind"`
	Ranks  []int             `json:"ranks"`
	Cell   int               `json:"cell"`
	Op     string            `json:"op"`
	Peer   int               `json:"peer"` // -1: none
	File   string            `json:"file"`
	Line   int               `json:"line"`
	Column int               `json:"column"`
	Msg    string            `json:"msg"`
	Source string            `json:"source"`
	Hint   string            `json:"hint"`
	Detail string            `json:"detail"`
	Hang   []session.HangRow `json:"hang,omitempty"`
	Text   string            `json:"text"` // as a prompt shows it
}

// finding is a finding of the sanitizer.
type finding struct {
	session.Finding
	Text string `json:"text"` // as a prompt shows it
	HTML string `json:"html"`
}

// got is the value of an expression on a rank: the file of a tensor or a slice of numbers, or any
// other value as JSON; or that the rank has sent the memory of a tensor.
type got struct {
	Rank  int    `json:"rank"`
	Sent  bool   `json:"sent,omitempty"`
	File  string `json:"file,omitempty"`
	Value string `json:"value,omitempty"` // JSON, with the fields that saveJSON adds
}

type rankInfo struct {
	Rank        int    `json:"rank"`
	Host        string `json:"host"`
	PID         int    `json:"pid"`
	Device      string `json:"device"`
	Incarnation int    `json:"incarnation"`
	State       string `json:"state"`
	Doing       string `json:"doing"`
	RSS         int64  `json:"rss"`
	Replaced    int    `json:"replaced"`
}

// told is the answer of a rank to an inspection.
type told struct {
	Rank       int                 `json:"rank"`
	Text       string              `json:"text,omitempty"`
	Variables  []session.Variable  `json:"variables,omitempty"`
	Candidates []session.Candidate `json:"candidates,omitempty"`
	Error      *failed             `json:"error,omitempty"`
}

func toRankInfos(infos []session.RankInfo) []rankInfo {
	list := make([]rankInfo, len(infos))
	for i, r := range infos {
		list[i] = rankInfo{
			Rank: r.Rank, Host: r.Host, PID: r.PID, Device: r.Device, Incarnation: r.Incarnation, State: r.State,
			Doing: r.Doing, RSS: r.RSS, Replaced: r.Replaced,
		}
	}
	return list
}

// text returns the output of print on a printer for size ranks.
func text(size int, print func(p *render.Printer)) string {
	var b bytes.Buffer
	print(render.New(&b, &b, size, false))
	return strings.TrimSuffix(b.String(), "\n")
}

func toFailed(errs []*session.Error, size int) []failed {
	var list []failed
	for _, e := range errs {
		list = append(list, failed{
			Kind: e.Kind, Ranks: e.Ranks, Cell: e.Cell, Op: e.Op, Peer: e.Peer, File: e.File, Line: e.Line, Column: e.Column,
			Msg: e.Msg, Source: e.Source, Hint: e.Hint, Detail: e.Detail, Hang: e.Hang,
			Text: text(size, func(p *render.Printer) { p.Reply(session.Reply{Errors: []*session.Error{e}}) }),
		})
	}
	return list
}

func toFindings(found []session.Finding, size int) []finding {
	list := []finding{}
	for _, f := range found {
		list = append(list, finding{f, text(size, func(p *render.Printer) { p.Finding(f) }), render.FindingHTML(f, size)})
	}
	return list
}
