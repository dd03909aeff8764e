# emu_shared.s: what a loadable module has in place of the C library's: where its shared memory is, and its name for destructors. It is linked behind the rest of the module.
#
# For the compiler, shared memory is what a thread of the system has of its own, and the address of that comes from this function, in place of the C
# library's. That would take the memory from the heap, where an index out of bounds goes on without a word; the run time has it between pages that nobody may touch.

.text
.globl __tls_get_addr
.hidden __tls_get_addr
.type __tls_get_addr, @function
__tls_get_addr:             # of a module and an offset, at %rdi
	movq %gs:8, %rax    # Worker.shared
	addq 8(%rdi), %rax
	ret
.size __tls_get_addr, .-__tls_get_addr

# Dynamic shared memory begins behind all that the module declares.
.section .tbss, "awT", @nobits
.globl emu_dynamic_shared
.hidden emu_dynamic_shared
.type emu_dynamic_shared, @tls_object
.size emu_dynamic_shared, 128
.balign 128
emu_dynamic_shared:
	.zero 128           # kDynamicShared

# A variable with a destructor gives that to the C library, with this word as the name of the module. Such a module is refused before it is loaded, by the line of the variable: the
# linker is not to refuse it first. It is weak, as compilers that link their own start files bring one.
.section .rodata
.weak __dso_handle
.hidden __dso_handle
.balign 8
__dso_handle:
	.quad 0

.section .note.GNU-stack, "", @progbits
