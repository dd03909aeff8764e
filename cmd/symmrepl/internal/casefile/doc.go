// Package casefile reads the cases that stand in comments beside CUDA kernels.
//
// A case is a block of comment lines, which begins with "symm: test NAME" and ends at the first line
// that is no comment, or with the next block. A comment of the form /* … */ that begins with "symm:"
// is a block, too, and in Python the lines begin with #. Each line is a statement; one whose
// parentheses are open goes on in the next line.
//
//	// symm: test one_shot
//	// x symmetric f32[1000] = rank + i
//	// out f32[1000]
//	// one_shot<<<4, 256>>>(handle(x), out, 1000)
//	// expect out == rank_sum(x)
//
// The grammar, in which "" encloses words and signs, [] what may be left out, {} what may be
// repeated:
//
//	case      = "symm:" "test" NAME { statement }
//	statement = tensor | launch | expect | "meet" | "ranks" N {"," N} | "hosts" N | "go" GO
//	tensor    = NAME [ "symmetric" | "local" ] TYPE "[" GO {"," GO} "]" [ "=" FORMULA ]
//	launch    = KERNEL "<<<" size "," size [ "," GO ] ">>>" "(" [ argument {"," argument} ] ")"
//	            { "on" GO {"," GO} | "repeat" GO | "stream" NAME }
//	size      = GO | "dim3" "(" GO {"," GO} ")"
//	argument  = GO | "handle" "(" NAME ")" | "peers" "(" NAME ")" | "table" "(" NAME "," GO ")"
//	          | "pointers" "(" NAME "," GO ")" | "pads" "(" NAME ")" | "pad" "(" NAME ")"
//	expect    = "expect" NAME ( "==" | "~=" ) FORMULA { "rtol" NUMBER | "atol" NUMBER | "on" GO {"," GO} }
//	          | "expect" "finding" [ TEXT ]
//	          | "expect" "error" [ TEXT ]
//
// A TYPE is f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool. A FORMULA is an
// expression of package symmem/expect/formula. GO is an expression of Go, after the word "go" a
// statement, in which rank, size and the tensors are variables; a number may end with f as in C++.
// TEXT is the beginning of the kind of a finding or an error, such as "race" or "deadlock", or a
// part of its message.
//
// Read checks the form of a case. What its words mean is checked where it runs.
package casefile
