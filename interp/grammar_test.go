package interp

// The parts from which generator makes programs.

// generatedPrelude has the declarations of every program. A program that executes too many steps
// panics.
const generatedPrelude = `import (
	"errors"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"sync"
)
var _, _, _ = errors.New, strconv.Itoa, sync.NewCond
var Steps = 0
func step() {
	if Steps++; Steps > 2000 { panic("too many steps") }
}
type Hook struct {
	Any  func(any) string
	Sum  func(Summer) int
	Many func(string, ...any) string
}
func hook(n int) Hook {
	return Hook{
		func(x any) string { step(); return fmt.Sprint(n, x) },
		func(s Summer) int { if s == nil { return n }; return s.Sum() + n },
		func(f string, list ...any) string { return fmt.Sprint(f, len(list), list) },
	}
}
type Base struct{ X, Y int }
func (b Base) Name() string { return fmt.Sprint("base ", b.X) }
func (b *Base) Put(n int) { b.X = n }
type Middle struct{ Base }
type Near struct{ X int }
func (n Near) Name() string { return fmt.Sprint("near ", n.X) }
func (n *Near) Put(x int) { n.X = -x }
type Outer struct {
	Middle
	*Near
}
func later(x ...bool) chan bool { c := make(chan bool); go func() { for _, b := range x { c <- b }; close(c) }(); return c }
type Small int8
func (s Small) Sum() int { return int(s) * 2 }
func (s Small) String() string { return fmt.Sprintf("small %d", int8(s)) }
type S struct {
	A int
	B string
	C [2]int8
}
func (s S) Sum() int { return s.A + len(s.B) + int(s.C[0]) + int(s.C[1]) }
func (s *S) Add(n int) int { s.A += n; return s.A }
type E struct {
	S
	N Small
}
func (e E) More() int { return e.Sum() + e.N.Sum() }
type Summer interface{ Sum() int }
type Nothing interface{}
type Blank struct {
	A    any
	_    string
	B    string
	_, C int8
	_    [2]any
}
func (b Blank) Sum() int { return len(b.B) + int(b.C) }
func name(f any) string {
	_, after, _ := strings.Cut(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name(), ".")
	return after
}
type Bool bool
type Func func(int) int
func (f Func) Do(n int) int { return f(n) }
type Pair[T any] struct{ L, R T }
func (p Pair[T]) Swap() Pair[T] { return Pair[T]{p.R, p.L} }
func (p *Pair[T]) Set(x T) T { p.L, p.R = x, p.L; return p.R }
func (p Pair[T]) Sum() int { return len(fmt.Sprint(p.L, p.R)) }
type Stack []int
func (s *Stack) Push(n int) { *s = append(*s, n) }
func (s Stack) Sum() int { t := 0; for _, v := range s { t += v }; return t }
func Map[T, U any](xs []T, f func(T) U) []U { var out []U; for _, x := range xs { out = append(out, f(x)) }; return out }
func Fold[T, A any](xs []T, a A, f func(A, T) A) A { for _, x := range xs { a = f(a, x) }; return a }
func keys(m map[string]int) []string { var out []string; for k := range m { out = append(out, k) }; sort.Strings(out); return out }
func each(xs []int) func(func(int, int) bool) { return func(yield func(int, int) bool) { for i, x := range xs { if !yield(i, x) { return } } } }
func try(f func()) (r any) { defer func() { if e := recover(); e != nil { r = fmt.Sprint("panic: ", e) } }(); f(); return "fine" }
func choose[T any](c bool, a, b T) T { if c { return a }; return b }
func deref(p *S) S { if p == nil { return S{} }; return *p }
func receive(c chan int) int { select { case n := <-c: return n; default: return -1 } }
func show(list ...any) {
	for _, x := range list {
		switch x := x.(type) {
		case *S: fmt.Print(deref(x), " ")
		case func(int) int: fmt.Print(x == nil, " ")
		case chan int: fmt.Print(len(x), " ")
		case float64: fmt.Print(x + 0, " ")
		case complex128: fmt.Print(x + 0, " ")
		default: fmt.Print(x, " ")
		}
	}
	fmt.Println()
}
`

var generatedIntegers = []string{"int", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "uintptr", "Small"}

// generatedTypes are the types of variables, parameters and results.
var generatedTypes = []string{"int", "int", "int", "int8", "uint8", "uint32", "int64", "Small", "float64", "complex128", "string", "string", "bool",
	"Bool", "[]int", "[]string", "[3]int",
	"map[string]int", "S", "S", "*S", "E", "any", "any", "Summer", "func(int) int", "Pair[int]", "Pair[string]", "Stack", "[2]S", "[]S", "chan int",
	"[2][2]int8", "error", "uintptr", "float32", "Nothing", "Blank"}

// generatedLeaves are expressions without holes.
var generatedLeaves = map[string][]string{
	"int": {"0", "1", "-3", "7", "1000"}, "int8": {"0", "-1", "100", "127"}, "uint8": {"0", "1", "200"}, "int16": {"1", "-300",
		"32767"}, "uint16": {"0", "9", "65535"},
	"int32": {"1", "-9", "70000"}, "uint32": {"0", "3", "1<<31"}, "int64": {"0", "-1", "1<<40"}, "uint64": {"1", "1<<63"},
	"uintptr": {"0", "5", "1<<20"}, "Small": {"0", "3", "-128"},
	"float64": {"0.1", "3", "1e10"}, "float32": {"0.5", "-2", "1e20"}, "Nothing": {"Nothing(nil)", "Nothing(4)"},
	"Blank": {"(Blank{})", `(Blank{B: "b", C: 3})`}, "complex128": {"1i", "2", "2+3i",
		"0.5"}, "string": {`"a"`, `"héé"`, `""`, "`x\\y`", `"\xff\x00z"`}, "bool": {"true", "false"}, "Bool": {"true", "false"},
	"[]int": {"[]int{4, 5}", "[]int(nil)"}, "[]string": {`[]string{"q", "r"}`}, "[3]int": {"[3]int{1, 2, 3}"}, "map[string]int": {`map[string]int{"a": 1}`},
	"S": {"(S{})", `(S{A: 5, B: "five"})`}, "*S": {"(&S{A: 7})", "(*S)(nil)"}, "E": {"(E{N: 2})"}, "any": {"any(nil)",
		"any(1)"}, "Summer": {"Summer(Small(3))", "Summer(nil)"},
	"func(int) int": {"func(n int) int { return n + 1 }"}, "Pair[int]": {"(Pair[int]{1, 2})"}, "Pair[string]": {`(Pair[string]{"l",
		"r"})`}, "Stack": {"(Stack{9, 8})"},
	"[2]S": {"[2]S{}"}, "[]S": {"[]S{{A: 1}, {}}"}, "chan int": {"make(chan int, 1)"}, "[2][2]int8": {"[2][2]int8{{1}}"},
	"error":  {`errors.New("oops")`, "error(nil)"},
	"func()": {"func() { step() }"},
}

// generatedExpressions has expressions by type. Those of integer apply to all integer types: T is
// the expression's type, U another.
var generatedExpressions = map[string][]string{
	"integer": {"({!T} + {T})", "({!T} - {T})", "({!T} * {T})", "({!T} & {T} | {!T})", "({!T} &^ {T})", "({!T} / ({!T} | 1))", "({!T} % ({!T} | 1))",
		"({!T} << ({!uint8} & 7))", "({!T} | 1<<({!uint8} & 7))", "({!T} & (1<<({!int} & 7) - 1))",
		"({!T} &^ (1 << ({!uint8} & 7)))", "(1 << ({!uint8} & 15) >> ({!uint8} & 3) + {!T})",
		"({!T} >> ({!uint8} & 63))", "-{!T}", "^{!T}", "T({!U})", "min({!T}, {T})"},
	"int": {"len({[]int})", "hook({int}).Sum({Summer})", "len(func() *[3]int { step(); return nil }())", "len(string({string}))",
		"{S}.A", "{S}.Sum()", "{E}.More()", "{[3]int}[{!uint8}&1]", "{map[string]int}[{string}]",
		"(func(int) int)({func(int) int})({int})",
		"Fold({[]int}, {int}, func(a, x int) int { return a*2 + x })", "{Pair[string]}.Sum()", "receive({chan int})", "Func({func(int) int}).Do({int})",
		"max({!int}, {int}, 3)", "{Pair[int]}.R", "{Stack}.Sum()", "len(map[Blank]int{{Blank}: 1, {Blank}: 2})", "{Blank}.Sum()"},
	"float32": {"({!float32} + {float32})", "({!float32} * {float32})", "float32({!float64})",
		"({!float32} / ({!float32} - {!float32}))", "float32({!int})", "-{!float32}"},
	"Nothing": {"Nothing({any})", "Nothing({S})", "Nothing({Blank})", "choose[Nothing]({bool}, nil, {Nothing})"},
	"Blank":   {"(Blank{{any}, {string}, {string}, 1, {int8}, [2]any{{any}}})", "(Blank{A: {any}, B: {string}})", "(Blank{C: {int8}})"},
	"float64": {"({!float64} + {!float64})", "float64({!float32})", "({!float64} * {!float64})", "({!float64} / 3)",
		"float64({!int})", "real({complex128})"},
	"complex128": {"complex({!float64}, {!float64})", "({!complex128} * {complex128})", "({!complex128} - 1)", "({!complex128} / 2i)"},
	"string": {"({string} + {string})", "hook({int}).Any({any})", "hook({int}).Many({string}, {any}, {int})",
		"string(rune({!int32}))", "fmt.Sprint({any})", "fmt.Sprintf(\"%v %+v\", {any}, {S})",
		"fmt.Sprintf(\"%v %+v\", {Blank}, {Nothing})", "name(hook)", "name(S.Sum)", "name((*S).Add)", "name(E.More)", "name(try)",
		"string([]byte({string}))", "{S}.B", "{Pair[string]}.Swap().L", "strings.Repeat({string}, {!int}&1)"},
	"bool": {"({bool} && {bool})", "(<-later({bool}) && {bool})", "(<-later({bool}) || <-later({bool}))",
		"({!uint8} < 1<<({!int} & 7))", "({!float64} == 1<<3)", "({!uint64} != 1e16)", "({bool} || {bool})", "!{!bool}",
		"({S} == {S})", "({[3]int} != {[3]int})", "({any} == {any})",
		"({[]int} == nil)", "({map[string]int} != nil)", "({!int} < {int})", "({!uint8} >= {uint8})", "({!string} < {string})", "bool({Bool})",
		"({E} == {E})", "({error} != nil)", "({Pair[int]} == {Pair[int]})", "({!float64} <= {float64})", "({[2]S} == {[2]S})",
		"({func(int) int} == nil)", "({Blank} == {Blank})", "({Blank} != {Blank})", "({any} == any({Blank}))",
		"({Nothing} == {Nothing})", "({!float32} < {float32})", "({!float32} == {float32})", "({!uintptr} >= {uintptr})"},
	"Bool": {"Bool({bool})", "(Bool({bool}) && {Bool})", "!{!Bool}"},
	"[]int": {"append([]int({[]int}), {int}, {int})", "append([]int({[]int}), {[]int}...)", "[]int{{int}, 2: {int}}",
		"Map({[]string}, func(s string) int { return len(s) })", "[]int({Stack})"},
	"[]string":       {"append({[]string}, {string})", "Map({[]int}, func(n int) string { return fmt.Sprint(n) })", "keys({map[string]int})"},
	"[3]int":         {"[3]int{{int}, 2: {int}}"},
	"map[string]int": {"map[string]int{\"a\": {int}, \"b\": {int}}"},
	"S":              {"(S{A: {int}, B: {string}, C: [2]int8{1: {int8}}})", "deref({*S})", "{E}.S", "{[2]S}[{!int}&1]"},
	"*S":             {"(&S{A: {int}, B: {string}})"},
	"E":              {"(E{{S}, {Small}})"},
	"any": {"any({int})", "any({string})", "any({S})", "any({Small})", "any({[3]int})", "any({Pair[int]})", "any({Bool})", "any({[]int})",
		"any({!float64} > {float64})", "any(!{!bool})", "choose[any]({bool}, {!int} == {int}, {bool} || {!bool})"},
	"Summer": {"Summer({S})", "Summer({*S})", "Summer(Small({Small}))", "Summer({E})", "Summer({Pair[string]})", "Summer({Stack})", "Summer({Blank})",
		"Summer(struct{ S; n int }{{S}, {int}})"},
	"func(int) int": {"func(n int) int { step(); return n + {int} }", "(&S{A: {int}}).Add", "Func({func(int) int}).Do",
		"choose({bool}, (func(int) int)({func(int) int}), func(n int) int { return n })"},
	"Pair[int]":    {"(Pair[int]{{int}, {int}})", "{Pair[int]}.Swap()"},
	"Pair[string]": {"(Pair[string]{{string}, {string}})", "{Pair[string]}.Swap()"},
	"Stack":        {"Stack({[]int})", "append({Stack}, {int})"},
	"[2]S":         {"[2]S{{S}, {A: {int}}}"},
	"[]S":          {"append({[]S}, {S})", "[]S{{A: {int}}, 2: {S}}"},
	"chan int":     {"func() chan int { c := make(chan int, 2); c <- {int}; return c }()"},
	"[2][2]int8":   {"[2][2]int8{{{int8}, {int8}}, {1: {int8}}}"},
	"error":        {"fmt.Errorf(\"e %w\", {error})", "errors.New({string})"},
}

// generatedStatements has statements, separated by empty lines. A line @ stands for other
// statements, and # for a fresh number.
const generatedStatements = `if {bool} {
	@
} else {
	@
}

for i# := {int} & 3; ; {
	step()
	i#++
	show(i#)
	if i# > 4 { break }
	@
}

{
	h, x := hook({int}), any({any})
	f, p := h.Any, &h
	show(h.Any(x), f(x), p.Sum({Summer}), h.Many({string}), (*(&h.Sum))({Summer}))
	func() { defer h.Any({any}) }()
}

{
	o := Outer{Middle{Base{{int}, 2}}, &Near{{int}}}
	o.Put({int})
	o.X++
	show(o.X, o.Y, o.Name(), o.Base.X, any(o).(interface{ Name() string }).Name())
}

switch float32({!float64}) {
case 0.1, 1e10:
	show("float32")
case 3:
	show("three")
}

switch {!uint64} {
case 1e3, 1 << 63:
	show("uint64")
	@
case 1:
	show("one")
}

fmt.Println(func() (a int, ok bool) {
	defer func() { recover() }()
	var p *int
	a, _ = {int}, *p
	return
}())

func() {
	defer func() { show(recover() != nil) }()
	defer func() {
		if {bool} { defer recover() }
		@
	}()
	panic({string})
}()

func() {
	m, q, e := map[string]int{}, []int{1, 2}, [2]error{}
	defer func() { show(recover() != nil, m, q, e[1] != nil) }()
	at := func(i int) int { show(i); return i }
	m[{string}], e[at(1)] = strconv.Atoi({string})
	m[{string}], q[at({int} & 3)] = {int}, {int}
	q[at(0)], q[at({int} & 3)] = q[1], q[0]
	q = append(q[:0], q[1], q[0], {int})
	_ = *func() *int { step(); return choose({bool}, nil, &q[0]) }()
	_ = {S} == {S}
	var a any
	a, q[at(1)] = {!int} < {int}, {int}
	show(a)
}()

switch x := any({bool}); {
case x, {bool}:
	@
case 2i == {complex128} / 2:
	show(2)
}

if bool({Bool}) {
	@
}

func() {
	var nothing Nothing = {Nothing}
	show(nothing == nil)
	nothing = nil
	show(nothing == nil, {Nothing} == nothing)
}()

println({string}, {bool}, {int}, {!float64}, {!float32}, {!complex128}, {!uint8} > 3, {S}.A, nil == {error})

show(int64({!float64}), uint32({!float64}), uint64({!float32}), int8({!float64}), uintptr({!float32} * {!float32}), int32({!float32}))

func() {
	p, l, s := {uintptr}, []uintptr{{uintptr}}, struct{ n uint16; f float32 }{3, {float32}}
	p++
	l[0]--
	l[0] |= {uintptr}
	s.n <<= {!uint8} & 3
	s.f *= {float32}
	m := map[string]uintptr{}
	m[{string}]++
	show(p, l, s, m)
}()

if v := {int}; v > {int} {
	show(v)
	@
} else if w := v * 2; w < {int} {
	show(w)
}

for i# := 0; i# < 3; i#++ {
	step()
	_ = i#
	@
	if {bool} { continue }
	show(i#)
}

loop#:
for i, x := range {[]int} {
	step()
	for _, y := range {[3]int} {
		if y == x { continue loop# }
		if {bool} { break loop# }
		show(i, x, y)
	}
	@
}

for i, r := range string({string}) {
	step()
	show(i, r)
	@
}

loop#:
for i, x := range each({[]int}) {
	step()
	if {bool} { continue loop# }
	show(i, x)
	@
}

for _, k := range keys({map[string]int}) {
	step()
	show(k)
	@
}

switch x := {int}; {
case x > 5:
	show(x)
	@
	fallthrough
case x == 3, {bool}:
	show("some", x)
	@
default:
	show("none")
}

switch {string} {
default:
	show("default")
case {!string}, {!string}:
	@
label#:
	for i := range 3 {
		if i == 1 { continue label# }
		show(i)
	}
}

switch x := any({any}).(type) {
case int, string:
	show(x)
case Summer:
	show(x.Sum())
	@
case fmt.Stringer:
	show(x.String())
case [3]int:
	x[0]++
	show(x)
case nil:
	show("nil")
default:
	fmt.Printf("%T\n", x)
}

switch x := {Summer}; x := x.(type) {
case nil:
	show(x == nil)
case *S:
	show(deref(x))
case S:
	x.A++
	show(x)
case interface{ More() int }:
	show(x.More())
case Small, Stack:
	fmt.Printf("%T\n", x)
}

defer func() {
	@
}()

fmt.Println(try(func() {
	@
	if {bool} { panic({string}) }
}))

{
	i := 0
back#:
	if i < 3 {
		i++
		step()
		show("goto", i, {int})
		goto back#
	}
}

func() {
	m := {map[string]int}
	for k, v := range m {
		if v&1 == 0 { delete(m, k) } else { m[k] = v + 1 }
	}
	show(m, len(m))
}()

{
	a := {[3]int}
	for i, x := range a {
		a[2] = x + i
		a[i] += 10
	}
	b := a
	b[0]++
	for i, x := range &a { a[2] = x * i }
	show(a, b, a == b)
}

{
	ss := {[]S}
	for _, s := range ss {
		s.A = 9
		s.C[0]++
	}
	for i := range ss { ss[i].C[1]++ }
	show(ss)
}

{
	arr := {[3]int}
	a := any(arr)
	arr[0]++
	b := a.([3]int)
	b[1] = 7
	show(a, b, arr, a == any(arr))
}

{
	var fs []func() int
	for i := 0; i < 3; i++ {
		x := {int}
		fs = append(fs, func() int { i += 10; x++; return i*1000 + x })
	}
	for _, f := range fs { show(f(), f()) }
}

{
	s := {S}
	add, sum := s.Add, s.Sum
	s.A = 100
	add({int})
	show(s, sum(), s.Sum(), (*S).Add(&s, 2), S.Sum(s))
}

{
	xs := append([]int({[]int}), 1, 2, 3)
	xs[0], xs[1] = xs[1], xs[0]
	i := 1
	i, xs[i] = 2, {int}
	xs[i], i = i, xs[i]
	t := append(xs[:0:0], xs...)
	n := copy(t[1:], xs)
	show(xs, i, t, n, cap(xs[1:2:3]))
}

{
	rs := []rune({string})
	for i := range rs { rs[i]++ }
	b := append([]byte({string}), {string}...)
	show(string(rs), len(rs), b, string(b) < {string})
}

func() {
	for i := range 3 {
		x := {int}
		defer show("deferred", i, x)
		x++
		defer func(n int) { show(n, x, i) }(x)
		x++
	}
}()

fmt.Println(func() (n int, err error) {
	defer func() {
		if r := recover(); r != nil { err = fmt.Errorf("caught %v", r) }
		n++
	}()
	for i := range 3 { defer func() { n = n*2 + i }() }
	@
	if {bool} { panic({string}) }
	return {int}, nil
}())

fmt.Println(func() (int, []int, int) { return {int}, append([]int({[]int}), {int}), len({string}) }())

fmt.Println(try(func() {
	var m map[string]int
	var p *S
	x := {int}
	switch x & 7 {
	case 0:
		m["a"]++
	case 1:
		p.A = 1
	case 2:
		x /= x - x
	case 3:
		_ = any(x).(string)
	case 4:
		c := make(chan int)
		close(c)
		close(c)
	case 5:
		_ = Summer(p).Sum()
	case 6:
		var f func()
		f()
	default:
		var s Summer
		s.Sum()
	}
}))

{
	sum := func(pre int, xs ...int) (t int) { for i := range xs { t += xs[i] * pre; xs[i] = 0 }; return }
	xs := append([]int(nil), {[]int}...)
	show(sum(2, {int}, {int}), sum(3), sum(1, xs...), xs)
}

func() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := {int}
	for i := range 4 {
		wg.Add(1)
		go func(n int) {
			defer wg.Done()
			mu.Lock()
			defer mu.Unlock()
			total += n * i
		}({int} & 15)
	}
	wg.Wait()
	show(total)
}()

func() {
	in, out := make(chan int), make(chan string, 2)
	go func() {
		defer close(out)
		for n := range in { out <- fmt.Sprint(n * 2) }
	}()
	sent := 0
loop#:
	for {
		select {
		case in <- sent:
			if sent++; sent == 3 {
				close(in)
				break loop#
			}
			show(<-out, {int})
		}
	}
	for s := range out { show(s) }
}()

{
	m := map[any]string{1: "int", int8(1): "int8", "1": "string", [1]int{1}: "array", S{A: 1}: "S", Small(1): "Small"}
	show(m[1], m[int8(1)], m[[1]int{1}], m[S{A: 1}], m[Small(1)], m[{int}])
}

{
	x, y := int8({int8}), uint8({uint8})
	var z, w = int8({!int}), uint16({!int})
	x += z
	y -= uint8(w)
	w *= w
	z = -z - 1
	x <<= {!uint8} & 7
	show(x, y, z, w, x*z, y<<3, ^y, int8(y), uint32(int32(z)), x>>1, -x/(z|1), x%(z|1))
}

{
	outer := {S}
	if outer := outer; outer.A > 2 {
		outer.A = -1
		show(outer)
	} else if outer := outer.Sum(); outer > 3 {
		show(outer)
	}
	p, q := &outer, outer
	p.C[1]++
	show(outer, q, outer == q, *p)
}

{
	pairs := []Pair[string]{{"a", {string}}, {R: {string}}}
	for i, p := range pairs {
		p.Set("x")
		pairs[i].Set(p.L + p.R)
	}
	show(pairs, Fold(pairs, 0, func(n int, p Pair[string]) int { return n + p.Sum() }))
}

{
	grid := [2][2]int8{{1, {int8}}, {{int8}}}
	row := grid[0]
	row[0]++
	for i := range grid {
		for j := range grid[i] { grid[i][j] += int8(i*2 + j) }
	}
	other := grid
	other[1][1]--
	show(grid, row, other, grid == other)
}

func() {
	seq := func(yield func(int) bool) {
		defer show("done")
		for i := range 5 { if !yield(i * {int}) { return } }
	}
	for x := range seq {
		step()
		defer show("after", x&1)
		if x > 10 { break }
		if x < -10 { return }
		@
	}
}()

{
	w := fmt.Errorf("w: %w", errors.Join({error}, strconv.ErrRange))
	_, err := strconv.Atoi({string} + "x")
	var se *strconv.NumError
	show(errors.Is(w, strconv.ErrRange), w, errors.As(err, &se) && se.Func == "Atoi")
}

{
	nan := ({!float64} - {!float64}) * 0
	nan /= nan
	m := map[float64]int{nan: 1, 1: 2}
	m[nan]++
	_, ok := m[nan]
	show(len(m), ok, nan == nan, nan != nan)
	clear(m)
	show(len(m))
}

func() {
	var fs []func()
	for i := range 3 {
		a, b := []int{i, {int}}, map[string]int{{string}: i}
		c := [2]S{{A: i}, {S}}
		var d = []any{i, {any}}
		var e any = {S}
		p, q := &[]int{i}, &E{N: {Small}}
		fs = append(fs, func() { a[0]++; b["x"] += i; c[1].A++; show(a, len(b), c, d, e, *p, *q); *p = append(*p, i); q.A++ })
		@
	}
	for _, f := range fs { f(); f() }
}()

func() {
	for i := range 2 {
		defer show([]int{i, {int}}, {any}, {S}, {Summer} == nil, [2]int{i})
		defer func(x any, y Summer, s S, list ...any) { fmt.Printf("%T %v %v %v\n", x, y == nil, s, len(list)) }({S}, {S}, {S}, {any}, {Small})
		defer fmt.Println({string}, {S}, {Small}, {Pair[int]})
		@
	}
}()

{
	out := make(chan string, 3)
	for i := range 3 {
		go func(x any, y Summer, l []int, s S) { out <- fmt.Sprintf("%T %v %v %v", x, y.Sum(), l, s) }(E{N: Small(i)}, Small(i), []int{i, {int}}, S{A: i})
	}
	got := []string{<-out, <-out, <-out}
	sort.Strings(got)
	show(got)
}

switch l := []int{{int}, {int}}; len(l) + l[0]&1 {
case 2:
	l[1]++
	show("even", l)
	@
case {int}:
	show("some")
default:
	show("odd", l)
}

if m := map[string]int{{string}: {int}}; len(m) > 1 {
	show("many")
} else if n := m[{string}]; n > 0 {
	show("found", n)
	@
} else {
	show(len(m), n)
}

{
	s := {S}
	f, n, g := s.Add, {int}, s.Sum
	n, f = f(n), func(k int) int { return k - 1 }
	var h, t = S.Sum, (*S).Add
	show(n, f(n), g(), h(s), t(&s, {int}), s)
}

{
	c := make(chan any, 4)
	d := make(chan Summer, 4)
	for i := range 2 {
		c <- {S}
		select {
		case d <- Small(i):
		default:
		}
		select {
		case c <- {Small}:
		}
		d <- {S}
	}
	close(c)
	close(d)
	for x := range c { fmt.Printf("%T %v ", x, x) }
	for x := range d { fmt.Printf("%T %v ", x, x.Sum()) }
	show()
}

{
	type local struct {
		S
		next *local
		get  func() int
		m    map[string][]E
	}
	x := local{S: {S}, m: map[string][]E{"a": {{N: {Small}}}}}
	x.get = func() int { return x.A + {int} }
	y := x
	y.next = &x
	y.A++
	y.next.Add({int})
	y.m["a"][0].B = {string}
	y.m["b"] = append(y.m["b"], x.m["a"]...)
	y.m["b"][0].N++
	show(x.S, y.S, x.get(), y.get(), x.m, len(y.m), y.next.next == nil, y.Sum())
}

{
	var fib func(n int) int
	memo := map[int]int{}
	fib = func(n int) int {
		step()
		if n < 2 { return n + {int} }
		if v, ok := memo[n]; ok { return v }
		memo[n] = fib(n-1) + fib(n-2)
		return memo[n]
	}
	show(fib(6), len(memo))
}

{
	arr := [3]S{{S}, {A: {int}}}
	p := &arr[{!int}&1]
	q := &p.C
	m := map[string]*S{"p": p, "q": &arr[2]}
	p.A++
	q[0] += 3
	m["q"].B += {string}
	*m["p"] = S{A: m["p"].A * 2, C: *q}
	brr := arr
	brr[0].Add(1)
	for i, s := range arr { arr[2].A += s.A; show(i, s) }
	show(arr, brr, *p, arr == brr)
}

fmt.Println(func() (a int, s S, err error) {
	defer func() {
		s.A += a
		if r := recover(); r != nil { err = fmt.Errorf("%v %w", r, {error}) }
	}()
	s = {S}
	a = s.Add({int})
	if {bool} { return s.A, {S}, nil }
	@
	a, s.A = s.A, a
	if {bool} { panic(fmt.Sprint({any})) }
	return a + 1, s, {error}
}())

{
	x := any({any})
	if n, ok := x.(int); ok && n > 0 { show("int", n) }
	if s, ok := x.(Summer); ok { show("summer", s.Sum()) }
	if s, ok := x.(interface{ String() string }); ok { show(s.String()) }
	_, isS := x.(S)
	f, isF := x.(fmt.Stringer)
	show(isS, isF, f == nil)
	m := map[any]int{{int}: 1, {string}: 2, {Small}: 3, {S}: 4}
	m[{S}] += 5
	show(len(m), m[{int}], m[{Small}])
}

{
	total, list := {int}, []Summer{{S}, {Small}, {E}}
	for i, s := range list {
		switch s := s.(type) {
		case S:
			s.A = 100
			total += s.Sum()
		case Small:
			s++
			total -= int(s)
		default:
			total ^= s.Sum()
		}
		list[i] = Small(i)
	}
	show(total, list, list[0] == Summer(Small(0)), list[1] == list[2])
}

{
	const (
		a = iota*3 + 1
		b
		c uint8 = 1 << iota
	)
	x := {!uint8}
	x = x<<b | c
	var y = {!int} >> (x & 7)
	show(a, b, c, x, y, -y/(b+1), float64(y)/b, 'a'+rune(c))
}

func() {
	gen := func(n int) func(func(int, S) bool) {
		return func(yield func(int, S) bool) {
			defer func() { show("gone", n) }()
			s := {S}
			for i := range n {
				if s.Add(i); !yield(i, s) { return }
			}
		}
	}
outer#:
	for i, s := range gen(4) {
		step()
		for j := range gen(2) {
			if i == 1 { continue outer# }
			if {bool} { break outer# }
			show(i, j, s)
		}
		s.A = -1
		@
	}
}()

{
	set := map[S]struct{}{{S}: {}, {S}: {}}
	set[S{A: {int}}] = struct{}{}
	delete(set, {S})
	grid := map[[2]int8][]int{{1, 2}: {{int}}}
	grid[[2]int8{1, 2}][0]++
	grid[[2]int8{{int8}}] = append(grid[[2]int8{0, 1}], {int})
	groups := map[bool][]string{}
	for _, w := range {[]string} { groups[len(w)&1 == 0] = append(groups[len(w)&1 == 0], w) }
	show(len(set) > 0, grid, groups, len(grid))
}

{
	call := func(fs ...func(int) int) (out []int) {
		for i, f := range fs {
			if f != nil { out = append(out, f(i)) }
		}
		return
	}
	s := {S}
	show(call(s.Add, {func(int) int}, nil, Func({func(int) int}).Do, func(n int) int { return n + s.A }), s)
}

{
	p := Pair[[]int]{{[]int}, {[]int}}
	q := Pair[Pair[string]]{L: {Pair[string]}}
	r := &Pair[any]{{any}, {S}}
	old := q.Set({Pair[string]})
	was := r.Set({Small})
	show(p.Sum(), p.Swap(), q, old, *r, was, Map({[]int}, func(n int) Pair[int] { return Pair[int]{n, {int}} }), choose({bool}, r, nil) == r)
}

{
	var x, y, z = {int}, {string}, {S}
	x, y, z.A = len(y), fmt.Sprint(x, z.A), x
	z, x = S{A: x, B: y}, z.Sum()
	xs := []int{x, {int}, 7}
	i := 0
	i, xs[i], xs[i+1] = 1, xs[i+1], i
	xs[i], xs[i-1] = xs[i-1], xs[i]
	show(x, y, z, xs, i)
}`
