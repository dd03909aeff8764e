package cudadoc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

const header = `// head.h: what the file is about.
//
// More of it.
#pragma once
#include "other.h"
#include <third>

#define INLINE __device__ __forceinline__
#define EMPTY(type, ...)
#ifdef CPU
int left_out();
#endif

namespace symm {

// One is a constant.
constexpr int kOne = 1;
enum Color : unsigned { kRed, kGreen = (1, 2), kBlue };  // what one sees

// put puts.
//
//   put(h)
template <class T = int, int n = (2 > 1)>
INLINE bool put(const Handle& h, T v = {}, int n = f(1)) {
  if (h) { return "}"; } // }
  return false;
}
INLINE bool put_more(int a);
/* block comment
   of two lines */
void get() {}

void alone();

// Base has members.
struct alignas(16) Base : A, public B<int> {
  int x, y[2];   // places
  u32 a : 8, b : 4;
  struct Other* next;
  // size is how many.
  int size() const { return 1; }
  Base(int x) : x(x), y{1, 2} {}
  Base(const Base&) = delete;
  ~Base() {}
  bool operator==(int o) const { return x == o; }
  friend int outside(Base b) { return 1; }

 private:
  int hidden;
};
EMPTY(Base, x, y)

typedef struct { int z; } Named;
typedef Base* Pointer;
using Alias = Base;
class Closed { int a; public: int open(); };
template <> struct Closed2<int> { int no; };
struct Forward;

namespace inner { int f(int); }

#define MAKE(name, T) \
  inline T name##_of(T v) { return #T; } \
  inline T name##_two(T v) { return v; }
// Both are made.
MAKE(int_, int)
#define EACH(M) M(a) M(b)
#define ONE(n) extern "C" double n(double) noexcept;
EACH(ONE)
#define TOLD(why) /* why */ inline void told();
TOLD("what it says")
#define HEAD(T) template <class T> INLINE void
HEAD(U) headed(U u) {}

}  // namespace symm

extern "C" { void c_function(); }
static int variable = 3;
`

func known(condition string) cudalex.Truth {
	if condition == "defined(CPU)" {
		return cudalex.False
	}
	return cudalex.Unknown
}

func TestRead(t *testing.T) {
	f := NewReader(known, header).Read("head.h", header)
	if f.Text != "head.h: what the file is about.\n\nMore of it." || !slices.Equal(f.Includes, []string{"other.h", "third"}) {
		t.Errorf("the file is %q, %q", f.Text, f.Includes)
	}
	var got []string
	for _, d := range f.Decls {
		got = append(got, fmt.Sprintf("%s %s: %s | %s", d.Kind, d.Name, d.Code, d.Text))
	}
	want := []string{
		"macro INLINE: #define INLINE | ", "macro EMPTY: #define EMPTY(type, ...) | ",
		"constant symm::kOne: constexpr int kOne = 1 | One is a constant.",
		"type symm::Color: enum Color : unsigned { kRed, kGreen = (1, 2), kBlue }; | what one sees",
		"function symm::put: template <class T = int, int n = (2 > 1)> bool put(const Handle& h, T v = {}, int n = f(1)) | put puts.\n\n  put(h)",
		"function symm::put_more: bool put_more(int a) | put puts.\n\n  put(h)",
		"function symm::get: void get() | block comment of two lines",
		"function symm::alone: void alone() | ",
		"type symm::Base: struct Base : A, public B<int> {\n  int x, y[2];  // places\n  u32 a : 8, b : 4;\n  struct Other* next;\n" +
			"  // size is how many.\n  int size() const;\n  Base(int x);\n  bool operator==(int o) const;\n}; | Base has members.",
		"type symm::Named: typedef struct { int z; }; | ", "type symm::Pointer: typedef Base* Pointer | ", "type symm::Alias: using Alias = Base | ",
		"type symm::Closed: class Closed { int open(); }; | ",
		"function symm::inner::f: int f(int) | ",
		"macro MAKE: #define MAKE(name, T) | ",
		"function symm::int__of: int int__of(int v) | Both are made.", "function symm::int__two: int int__two(int v) | Both are made.",
		"macro EACH: #define EACH(M) | Both are made.", "macro ONE: #define ONE(n) | Both are made.",
		"function symm::a: double a(double) | Both are made.", "function symm::b: double b(double) | Both are made.",
		"macro TOLD: #define TOLD(why) | Both are made.", "function symm::told: void told() | what it says",
		"macro HEAD: #define HEAD(T) | Both are made.",
		"function symm::headed: template <class U> void headed(U u) | Both are made.",
		"function c_function: void c_function() | ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	i := slices.IndexFunc(f.Decls, func(d Decl) bool { return d.Name == "symm::Base" })
	var members []string
	for _, m := range f.Decls[i].Members {
		members = append(members, fmt.Sprintf("%s %s gives %s | %s", m.Kind, m.Name, m.Gives, m.Text))
	}
	want = []string{"field symm::Base::x gives int | places", "field symm::Base::y gives int | places",
		"field symm::Base::a gives u32 | ", "field symm::Base::b gives u32 | ",
		"field symm::Base::next gives struct Other* | ", "function symm::Base::size gives int | size is how many."}
	if !slices.Equal(members, want) || !slices.Equal(f.Decls[i].Bases, []string{"A", "B<int>"}) {
		t.Errorf("the members are\n%s\nof %q", strings.Join(members, "\n"), f.Decls[i].Bases)
	}
}

// hostile has texts that are no headers.
var hostile = []string{
	"", "}", "{", "{{{{{{", "}}}}", "namespace", "namespace {", "template", "template <", "template <<<<<", "template <class T",
	"struct", "struct {", "enum {", "enum class",
	"using", "using =", "typedef", "typedef;", "f(", "f(((((", "f)", "f() : a(", "f() : a{", "struct S { private",
	"struct S { private:", "struct S { int", "operator", "operator()",
	"#define", "#define (", "#define F(", "#define F(a", "#define F(a) #", "#define F(a) ##\nF(1)", "F(", "/*", "//", "\"",
	"R\"(", "extern \"C\"", "extern \"C\" {",
	"#define F() F() F()\nF()", "#define F(a) F(a a)\nF(1)", "#define A B\n#define B A\nA x;",
	"#define G(n) struct n { G(n) };\nG(x)", "alignas", "alignas(", "[[", "[[x", "struct alignas(8", "\x00\xff",
	"#pragma once", "#if\n#else\n#else\n#endif\n#endif", "#define T template <class U>\nT",
	"#define F(x) x\nF(template <class T> void)", "int a = {", "struct S : {", "struct S { : };", ";;;;", "= = =",
}

// TestHostile checks that text that is no header is read in short time.
func TestHostile(t *testing.T) {
	texts := slices.Clone(hostile)
	for _, piece := range []string{"{", "}", "(", "template <", "struct S {", "namespace n {", "#define F(a) a a\n", "f() : a{",
		"typedef struct {", "x = {", "#if 1\n", "// c\n", "F("} {
		texts = append(texts, strings.Repeat(piece, 20000), "#define F(a) F(a) F(a) a\nF("+strings.Repeat(piece, 100)+")")
	}
	for _, text := range texts {
		start := time.Now()
		f := NewReader(nil, text).Read("hostile.h", text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.40q took %v", text, took)
		}
		if len(f.Decls) > len(text)+maxExpansion {
			t.Errorf("%.40q has %d declarations", text, len(f.Decls))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range append(hostile, header) {
		f.Add(text)
	}
	for _, h := range kernels.Headers() {
		f.Add(h.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		for _, d := range NewReader(known, text).Read("fuzz.h", text).Decls {
			if d.Name == "" || d.Code == "" || d.Line < 1 {
				t.Errorf("a declaration %+v", d)
			}
		}
	})
}
