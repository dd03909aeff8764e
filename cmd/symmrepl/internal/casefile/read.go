package casefile

import (
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxCases bounds the cases of one file, and maxSteps the statements of one case, so that a file
// that a program made by mistake is refused before anything runs.
const maxCases, maxSteps = 10_000, 10_000

// Types are the types of tensors.
var Types = []string{"f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"}

// Read returns the cases of a file, which may have none. Its name tells whether it is Python. The
// error is an *Error.
func Read(name, text string) (*File, error) {
	f := &File{Name: name, Text: text}
	sign := "//"
	if filepath.Ext(name) == ".py" {
		sign, f.Text = "#", kernelsOf(text)
	}
	named := map[string]int{}
	for _, b := range blocks(text, sign) {
		c, err := readCase(name, b)
		if err != nil {
			return nil, err
		}
		if at, again := named[c.Name]; again {
			return nil, wrong(name, b[0], "a case "+c.Name+" is at line "+strconv.Itoa(at)+" already", "give it another name")
		}
		if named[c.Name] = c.Line; len(named) > maxCases {
			return nil, wrong(name, b[0], "a file has at most "+strconv.Itoa(maxCases)+" cases", "")
		}
		f.Cases = append(f.Cases, *c)
	}
	return f, nil
}

// wrong returns an error at the beginning of a line.
func wrong(file string, at line, msg, hint string) error {
	return &Error{File: file, Line: at.number, Column: at.column, Msg: msg, Hint: hint}
}

// readCase reads a block.
func readCase(file string, b []line) (*Case, error) {
	statements := statementsOf(b)
	r, err := newReader(file, statements[0])
	if err != nil {
		return nil, err
	}
	if err := r.need("here", "symm", ":"); err != nil {
		return nil, err
	}
	if !r.accept("test") {
		return nil, r.failNext("test is expected behind symm:, not "+r.peek().text, "a case begins with // symm: test NAME")
	}
	c := &Case{Line: b[0].number}
	if c.Name, err = r.name("the case"); err != nil {
		return nil, err
	}
	if err := r.end("the name of a case"); err != nil {
		return nil, err
	}
	for _, s := range statements[1:] {
		if err := c.statement(file, s); err != nil {
			return nil, err
		}
		if len(c.Steps) > maxSteps {
			return nil, wrong(file, s[0], "a case has at most "+strconv.Itoa(maxSteps)+" statements", "")
		}
	}
	if !slices.ContainsFunc(c.Steps, func(s Step) bool { _, is := s.(Tensor); return !is }) {
		return nil, wrong(file, b[0], "the case "+c.Name+" launches nothing", "add a line such as kernel<<<1, 32>>>(x)")
	}
	return c, nil
}

// statementsOf divides the lines of a block into statements. Empty lines separate nothing.
func statementsOf(b []line) (statements [][]line) {
	depth := 0
	for _, l := range b {
		if depth == 0 && len(statements) > 0 && strings.TrimSpace(l.text) == "" {
			continue
		}
		if depth == 0 {
			statements = append(statements, nil)
		}
		last := len(statements) - 1
		statements[last] = append(statements[last], l)
		depth = max(0, depth+opened(l.text))
	}
	return statements
}

// opened returns the number of parentheses that a line opens and does not close.
func opened(text string) (n int) {
	var quote rune
	for _, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == '(' || c == '{':
			n++
		case c == ')' || c == '}':
			n--
		}
	}
	return n
}

// statement adds a statement to the case.
func (c *Case) statement(file string, lines []line) error {
	at := Line(lines[0].number)
	if text, ok := goStatement(lines); ok {
		c.Steps = append(c.Steps, Go{at, text})
		return nil
	}
	r, err := newReader(file, lines)
	if err != nil {
		return err
	}
	if r.peek().kind != token.IDENT && r.peek().text != "go" {
		return r.failNext("a statement is expected, not "+r.peek().text, known)
	}
	var second tok
	if len(r.toks) > 1 {
		second = r.toks[1]
	}
	switch word := r.peek().text; {
	case word == "meet" && second.kind == 0:
		c.Steps = append(c.Steps, Meet{at})
		return nil
	case word == "ranks" && second.kind == token.INT:
		return c.ranks(r)
	case word == "hosts" && second.kind == token.INT:
		r.next++
		if c.Hosts, err = r.count("hosts", 64); err != nil {
			return err
		}
		return r.end("the number of hosts")
	case word == "expect":
		r.next++
		return c.expect(r, at)
	case second.kind == token.IDENT:
		return c.tensor(r, at)
	}
	return c.launch(r, at)
}

const known = "statements are tensors, launches, expect, meet, ranks, hosts and go"

// goStatement returns the text behind the word go.
func goStatement(lines []line) (text string, ok bool) {
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(strings.Join(texts, "\n"), " \t"), "go")
	if !ok || rest == "" || !strings.ContainsRune(" \t", rune(rest[0])) || strings.TrimSpace(rest) == "" {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// count takes a number from 1 to limit.
func (r *reader) count(of string, limit int) (int, error) {
	t := r.peek()
	n, err := strconv.Atoi(t.text)
	if err != nil || n < 1 || n > limit {
		return 0, r.failNext("a number of "+of+" from 1 to "+strconv.Itoa(limit)+" is expected, not "+t.text, "")
	}
	r.next++
	return n, nil
}

// ranks reads the numbers of ranks that a case is for.
func (c *Case) ranks(r *reader) error {
	r.next++
	for {
		n, err := r.count("ranks", 1024)
		if err != nil {
			return err
		}
		c.Ranks = append(c.Ranks, n)
		if !r.accept(",") {
			return r.end("the numbers of ranks")
		}
	}
}

// tensor reads a tensor.
func (c *Case) tensor(r *reader, at Line) (err error) {
	t := Tensor{Line: at}
	if t.Name, err = r.name("a tensor"); err != nil {
		return err
	}
	if slices.ContainsFunc(c.Steps, func(s Step) bool { of, is := s.(Tensor); return is && of.Name == t.Name }) {
		r.next--
		return r.failNext("there is a tensor "+t.Name+" already", "give it another name")
	}
	if t.Symmetric = r.accept("symmetric"); !t.Symmetric {
		r.accept("local")
	}
	if t.Type = r.peek().text; !slices.Contains(Types, t.Type) {
		return r.failNext(t.Type+" is no type of a tensor", "write x symmetric f32[1000] = rank, or x f32[1000]; types are "+strings.Join(Types, ", "))
	}
	r.next++
	if err := r.need("behind the type", "["); err != nil {
		return err
	}
	if t.Shape, err = r.expressions("a size", "]"); err != nil {
		return err
	}
	if err := r.need("behind the sizes", "]"); err != nil {
		return err
	}
	if r.accept("=") {
		if t.Fill, _, err = r.until("a formula", ""); err != nil {
			return err
		}
	}
	c.Steps = append(c.Steps, t)
	return r.end("a tensor")
}

// launch reads a launch.
func (c *Case) launch(r *reader, at Line) (err error) {
	l := Launch{Line: at}
	begin := r.peek().pos
	for !(r.peek().text == "<<" && r.next+1 < len(r.toks) && r.toks[r.next+1].text == "<") {
		if t := r.take(); t.kind == token.EOF || t.text == "(" && !strings.Contains(r.text[begin:t.pos], "<") {
			return r.fail(begin, r.text[begin:max(begin, min(t.pos, len(r.text)))]+" is no statement", known+"; a launch is kernel<<<GRID, BLOCK>>>(ARGUMENTS)")
		}
	}
	if l.Kernel = strings.TrimSpace(r.text[begin:r.peek().pos]); l.Kernel == "" {
		return r.failNext("the name of a kernel is expected before <<<", "")
	}
	r.next += 2
	if l.Grid, err = r.size("the size of the grid", ",", ">>"); err != nil {
		return err
	}
	if err := r.need("behind the size of the grid", ","); err != nil {
		return err
	}
	if l.Block, err = r.size("the size of a block", ",", ">>"); err != nil {
		return err
	}
	if r.accept(",") {
		if l.Shared, err = r.expression("the bytes of shared memory", ">>"); err != nil {
			return err
		}
	}
	if err := r.need("behind the size of a block", ">>", ">", "("); err != nil {
		return err
	}
	if r.peek().text != ")" {
		if l.Args, err = r.expressions("an argument", ")"); err != nil {
			return err
		}
	}
	if err := r.need("behind the arguments", ")"); err != nil {
		return err
	}
	for {
		switch {
		case l.On == nil && r.accept("on"):
			l.On, err = r.expressions("a rank", "on", "repeat", "stream", "")
		case l.Repeat == "" && r.accept("repeat"):
			l.Repeat, err = r.expression("a number of launches", "on", "repeat", "stream", "")
		case l.Stream == "" && r.accept("stream"):
			l.Stream, err = r.name("a stream")
		default:
			c.Steps = append(c.Steps, l)
			return r.end("a launch")
		}
		if err != nil {
			return err
		}
	}
}

// size reads the size of a grid or a block.
func (r *reader) size(of string, ends ...string) (sizes []string, err error) {
	if r.peek().text != "dim3" {
		one, err := r.expression(of, ends...)
		return []string{one}, err
	}
	r.next++
	if err := r.need("behind dim3", "("); err != nil {
		return nil, err
	}
	at := r.next
	if sizes, err = r.expressions(of, ")"); err != nil {
		return nil, err
	}
	if len(sizes) > 3 {
		r.next = at
		return nil, r.failNext(of+" has at most three numbers", "")
	}
	return sizes, r.need("behind "+of, ")")
}

// expect reads an expectation.
func (c *Case) expect(r *reader, at Line) (err error) {
	second := tok{kind: token.EOF}
	if r.next+1 < len(r.toks) {
		second = r.toks[r.next+1]
	}
	if word := r.peek().text; (word == "finding" || word == "error") && second.text != "==" && second.text != "~" {
		text := strings.TrimSpace(r.text[r.peek().end:])
		r.next = len(r.toks)
		if word == "finding" {
			c.Findings = append(c.Findings, Outcome{at, text})
		} else {
			c.Errors = append(c.Errors, Outcome{at, text})
		}
		return nil
	}
	e := Compare{Line: at}
	if e.Name, err = r.name("a tensor, finding or error"); err != nil {
		return err
	}
	if !r.accept("==") {
		if err := r.need("behind "+e.Name+", or ==", "~", "="); err != nil {
			return err
		}
		e.Close = true
	}
	from := 0
	if e.Formula, from, err = r.until("a formula", "rtol", "atol", "on", ""); err != nil {
		return err
	}
	e.FormulaCol = r.lines[0].column + from
	for {
		switch {
		case e.Close && e.Relative == "" && r.accept("rtol"):
			e.Relative, err = r.number()
		case e.Close && e.Absolute == "" && r.accept("atol"):
			e.Absolute, err = r.number()
		case e.On == nil && r.accept("on"):
			e.On, err = r.expressions("a rank", "rtol", "atol", "on", "")
		default:
			c.Steps = append(c.Steps, e)
			return r.end("a formula")
		}
		if err != nil {
			return err
		}
	}
}

// number takes a number.
func (r *reader) number() (string, error) {
	t := r.peek()
	if t.kind != token.FLOAT && t.kind != token.INT {
		return "", r.failNext("a number is expected, not "+t.text, "")
	}
	r.next++
	return t.text, nil
}
