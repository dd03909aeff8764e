package ptx

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

func TestRewrite(t *testing.T) {
	for text, want := range map[string]string{
		`asm volatile("fence.sc.sys;" ::: "memory");`:                         `::emu::ptx::Asm<"fence.sc.sys;" >::run( );`,
		`__asm__ __volatile__ ("a" : "=r"(x), "+l"(y[f(1, 2)]) : "n"(3));`:    `::emu::ptx::Asm<"a"  "\v" "=r" "\v" "+l" "\v" "n">::run( (x) ,(y[f(1, 2)])  ,(3));`,
		"asm(\"a\"\n  \"b\" // one\n  : \"=r\"(x) /* two\n */ : \"r\" (z));":  "::emu::ptx::Asm<\"a\"\n  \"b\"  \n   \"\\v\" \"=r\" \"\\v\" \"r\">::run( (x)  \n   ,(z));",
		"#define LD(T) asm(\"ld.\" #T : \\\n \"=\" #T(v))\nLD(u)":             "#define LD(T) ::emu::ptx::Asm<\"ld.\" #T  \"\\v\" \"=\" # T>::run( \\\n  (v))\nLD(u)",
		"#ifndef on\nasm(\"\");\n#endif\n// asm(\"\")\nchar s[] = \"asm()\";": "#ifndef on\nasm(\"\");\n#endif\n// asm(\"\")\nchar s[] = \"asm()\";",
		"int asm_ = 1; f(asm": "int asm_ = 1; f(asm",
		"asm(\"x\"":           "asm(\"x\"",
	} {
		known := func(condition string) cudalex.Truth {
			if condition == "!defined(on)" {
				return cudalex.False
			}
			return cudalex.Unknown
		}
		got, _, bad := Rewrite(text, known)
		if got != want || bad != nil {
			t.Errorf("%s\nbecame %s\nwant   %s\n%v", text, got, want, bad)
		}
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q has another number of lines", got)
		}
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]Malformed{
		"\n asm(\"a\" :\n#if x\n \"=r\"(x)\n#endif\n);": {3, 1, "preprocessor line"},
		`int x; asm("%[x]" : [x] "=r"(x));`:             {1, 21, "no names"},
		`asm goto("bra %l0;" :::: there);`:              {1, 5, "cannot jump"},
		`asm("a" : : : : there);`:                       {1, 17, "cannot jump"},
	} {
		_, _, got := Rewrite(text, nil)
		if len(got) != 1 || got[0].Line != want.Line || got[0].Column != want.Column || !strings.Contains(got[0].Why, want.Why) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestStatements(t *testing.T) {
	got := Statements("# 1 \"x\"\n::emu::ptx::Asm<\"a\\n\\t\" R\"(b\\)\" \"\\v\" \"=\" \"r\">::run((x)); ::emu::ptx::Asm<\"\\x41\\102\">::run(); ::emu::ptx::Asm<\"\\x41\\102\">::run(); emu::ptx::Asm<x>")
	want := []string{"a\n\tb\\\v=r", "AB"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
	for _, s := range []string{"a\v\n\"\\?\x01z", "", "%%laneid"} {
		if text, ok := decode(encode(s)); !ok || text != s {
			t.Errorf("%q became %q", s, text)
		}
	}
}

// TestTranslate: the C++ of some templates. What it computes is tested in symmemtest.
func TestTranslate(t *testing.T) {
	for statement, want := range map[string][]string{
		"ld.relaxed.gpu.global.L1::no_allocate.v2.u32 {%0, %1}, [%2+8];\v=r\v=r\vl": {"spread(load_vector<u32, 2, kRelaxed, 1>(at<u32>(generic((u64)r2 + (s64)(8ull)))), r0, r1);"},
		"{ .reg .pred p; setp.ne.b32 p, %0, 0; @!p st.shared.f32 [%1], 0f3F800000; }\vr\vr": {
			"set(t0, is)", "if (!t0) { store<kWeak, 2>(at<float>(shared((u64)r1)), get<float>(bits<float>(u32{0x3F800000u})))"},
		"again: ld.volatile.u32 %0, [%1]; bra again;\v=r\vl":                                    {"label_again:;", "goto label_again;"},
		"{ .reg .b32 r<2>; { .reg .b32 r0; mov.b32 r0, %1; } mov.b32 %0, {%1, %1}; }\v=l\vr\vh": nil,
		"mov.u32 %0, %%smid;\v=r": {"set(r0, get<u32>(u32{0}));"},
		"{ .reg .b128 q; ld.relaxed.sys.b128 q, [%0]; st.relaxed.sys.b128 [%0], q; }\vl": {"set(t0, bits<u128>(load_vector<u64, 2, kRelaxed, 2>(at<u64>(", "store_vector<u64, 2, kRelaxed, 2>(at<u64>("},
		"membar.gl;": {"symm_cpu_fence(1);"},
		"cp.async.cg.shared.global [%0], [%1], 16;\vr\vl": {"copy_async("},
		"// nothing": nil,
	} {
		parts := strings.Split(statement, separator)
		got, _, err := translate(parts[0], parts[1:])
		if err != nil && want != nil {
			t.Errorf("%q: %v", statement, err)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q became\n%swithout %s", statement, got, w)
			}
		}
	}
}

// TestRefusals: what is not translated is named, with what to do.
func TestRefusals(t *testing.T) {
	for statement, want := range map[string]string{
		"multimem.st.global.b32 [%0], %1;\vl\vf":                                   "symm::multimem_store",
		"{ .reg .pred p; cp.async.bulk.tensor.2d.shared [%0], [%1, {%2}], [%3]; }": "cp.async.bulk.tensor.2d.shared (the tensor memory accelerator, TMA) cannot run on the cpu device: copy by loads",
		"mbarrier.init.shared.b64 [%0], 1;\vr":                                     "__syncthreads()",
		"mma.sync.aligned.m16n8k16 {%0}, %1;\v=r\vr":                               "tensor cores",
		"wgmma.fence.sync.aligned;":                                                "tensor cores",
		"exit;":                                                                    "return from the kernel",
		"frobnicate.u32 %0;\v=r":                                                   "frobnicate.u32 is not known to the cpu device",
		"ld.global.u33 %0, [%1];\v=r\vl":                                           "the type .u33 of ld is not supported",
		"ld.acquire.u32 %0, [%1];\v=r\vl":                                          "has an order and no scope",
		"ld.sys.u32 %0, [%1];\v=r\vl":                                              "a scope and no order",
		"ld.frozen.u32 %0, [%1];\v=r\vl":                                           "does not know .frozen of ld",
		"ld.u32 %0;\v=r":                                                           "too few operands",
		"ld.u32 %0, [%1], 3;\v=r\vl":                                               "too many operands",
		"ld.u32 %0, [%5];\v=r":                                                     "%5 names no operand: there are 1",
		"ld.u32 %0, [x];\v=r":                                                      "pass a pointer as operand",
		"mov.u32 %0, %%envreg3;\v=r":                                               "nor a special register that the cpu device has",
		"add.rz.f32 %0, %1, %1;\v=f\vf":                                            "rounding by .rz",
		"atom.frob.u32 %0, [%1], 1;\v=r\vl":                                        "no operation of atom",
		"bar.arrive 1, 64;":                                                        "use bar.sync",
		"mov.u32 %0, 1;\v=x":                                                       "use h, r, l, q, f, d or n",
		"mov.u32 %0, 1;\v=rr":                                                      "is not a constraint",
		"@p bra there;":                                                            "has no label there",
		"{ mov.u32 %0, 1;\v=r":                                                     "a { is not closed",
		"}":                                                                        "closes nothing",
		".shared .b32 x;":                                                          "declare the variable in C++",
		"a: a: bra a;":                                                             "stands twice",
		"mov.u32 %0, 1 2;\v=r":                                                     `"2" stands where "," is expected`,
	} {
		parts := strings.Split(statement, separator)
		_, _, err := translate(parts[0], parts[1:])
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", statement, err, want)
		}
		if text := Definitions([]string{statement}); !strings.Contains(text, "EMU_REFUSED(refused_0, \"inline PTX: ") {
			t.Errorf("%q becomes %s", statement, text)
		}
	}
}

// TestLists: what documentation is made of is complete.
func TestLists(t *testing.T) {
	for _, i := range Instructions() {
		if i.Says == "" {
			t.Errorf("%s says nothing", i.Name)
		}
		if why := refusal(i.Name); why != "" {
			t.Errorf("%s is known and refused", i.Name)
		}
	}
	for _, r := range Refused() {
		if len(r.Names) == 0 || r.What == "" || r.Do == "" {
			t.Errorf("%+v", r)
		}
	}
}

func FuzzRewrite(f *testing.F) {
	for _, s := range []string{`asm("a" : "=r"(x) : "r"(y) : "memory");`, "#define A asm(\"\" :: \\\n \"r\"(x))", `asm("`,
		`asm(:::::)`, `asm([[]])`, "asm(\n#if\n)", `asm volatile(R"(a)" : )`, `__asm("%[a]" : [a] "r"(x))`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _, bad := Rewrite(s, nil)
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q became %q, with another number of lines", s, got)
		}
		for _, m := range bad {
			if m.Line < 1 || m.Line > 1+strings.Count(s, "\n") || m.Column < 1 {
				t.Errorf("%q: %+v", s, m)
			}
		}
		Statements(got)
	})
}

func FuzzTranslate(f *testing.F) {
	for _, s := range []string{
		"ld.acquire.sys.global.v4.u32 {%0,%1,%2,%3}, [%4+16];\v=r\v=r\v=r\v=r\vl",
		"{ .reg .pred p; .reg .b32 r<4>; setp.lt.and.u32 p|q, %0, 3, p; @!p bra $L; $L: }\vr",
		"shfl.sync.idx.b32 %0|p, %1, 0, 0x1f, -1;\v=r\vr", "mov.b64 {%0, _}, %1;\v=r\vl",
		"cvt.rn.f16x2.f32 %0, %1, 1.5e-3;\v=r\vf", "fma.rn.f32 %0, 0f3f800000, -1, 0dFFFFFFFFFFFFFFFF;\v=f",
		"/* x */ // y", "@", "[", "{{{{{{{{{{{{", "a|b", "atom.add.v2.f32 _, [%0], {1, 2};\vl", "setp.",
		"mov.u32 %99999999999999999999, 1;\v=r", ".reg .b32 %0;", "red..; cvt. ; bar. ;",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := Definitions([]string{s})
		if strings.Count(text, "{") != strings.Count(text, "}") && !strings.Contains(s, "{") && !strings.Contains(s, "}") {
			t.Errorf("%q became %s", s, text)
		}
	})
}
