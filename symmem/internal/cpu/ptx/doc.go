// Package ptx translates the inline PTX of CUDA text to C++ for the emulated device.
//
// A C++ compiler would pass the template of an asm statement to an assembler for the host's
// processor. So the text is changed before it is compiled, in two steps, between which the
// compiler's own preprocessor runs: a template is often put together by macros.
//
// [Rewrite] works on the text as the user wrote it. It replaces each statement, in macros too, by a
// call whose template argument is the statement's template and constraints, and whose arguments are
// the operands:
//
//	asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
//	::emu::ptx::Asm<"ld.acquire.sys.u32 %0, [%1];" "\v" "=r" "\v" "l">::run((v),(p));
//
// No line is added or removed, and only columns behind an asm statement change.
//
// [Statements] finds the calls in the preprocessed text. Every string is now complete. [Definitions]
// returns a specialization of Asm for each of them. Its function has a variable for each operand and
// each register that the template declares, and one C++ statement for each instruction, which calls
// the functions of emu/include/emu_ptx.h.
//
// A template that cannot be translated becomes a call of a function that the compiler rejects with
// the reason, if the call remains in compiled code: a helper that no kernel uses does no harm.
//
// The instructions are in the tables of instructions.go and its neighbours, and the refused ones in
// refused.go. [Instructions] and [Refused] list both for documentation.
package ptx
