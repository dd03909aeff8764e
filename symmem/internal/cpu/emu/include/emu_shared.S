// emu_shared.S: what a loadable module has in place of the C library's: where its shared memory is, and its name for destructors. It is linked
// behind the rest of the module.
//
// For the compiler, shared memory is what a thread of the system has of its own, whose address comes from a function of the C library. That would
// take the memory from the heap, where an index out of bounds goes on without a word; the run time has it between pages that nobody may touch. On
// x86-64 the function below is called in place of the C library's. On aarch64 compilers call what a descriptor names, and the run time writes the
// descriptors when it loads the module: see own_shared in grid.h.

#if defined(__x86_64__)
	.text
	.globl	__tls_get_addr
	.hidden	__tls_get_addr
	.type	__tls_get_addr, @function
__tls_get_addr:             // of a module and an offset, at %rdi
	movq	%gs:8, %rax     // Worker.shared
	addq	8(%rdi), %rax
	ret
	.size	__tls_get_addr, .-__tls_get_addr
#elif defined(__aarch64__)
// emu_module_begin keeps the distance of the worker from the thread pointer, in x0, for worker in emu_machine.h.
	.text
	.globl	emu_module_begin
	.type	emu_module_begin, %function
emu_module_begin:
	adrp	x1, emu_worker
	str	x0, [x1, :lo12:emu_worker]
	ret
	.size	emu_module_begin, .-emu_module_begin

	.bss
	.globl	emu_worker
	.hidden	emu_worker
	.type	emu_worker, %object
	.size	emu_worker, 8
	.balign	8
emu_worker:
	.zero	8
#endif

// Dynamic shared memory begins behind all that the module declares.
	.section .tbss, "awT", %nobits
	.globl	emu_dynamic_shared
	.hidden	emu_dynamic_shared
	.type	emu_dynamic_shared, %tls_object
	.size	emu_dynamic_shared, 128
	.balign	128
emu_dynamic_shared:
	.zero	128             // kDynamicShared

// A variable with a destructor gives that to the C library, with this word as the name of the module. Such a module is refused before it is
// loaded, by the line of the variable: the linker is not to refuse it first. It is weak, as compilers that link their own start files bring one.
	.section .rodata
	.weak	__dso_handle
	.hidden	__dso_handle
	.balign	8
__dso_handle:
	.quad	0

	.section .note.GNU-stack, "", %progbits
