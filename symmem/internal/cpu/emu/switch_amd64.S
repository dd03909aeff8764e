// Stack switching by hand: what the calling convention says survives a call, and no more.
#if defined(__x86_64__)

	.text

// void emu_switch(void** save, void* load): stores the stack pointer of the caller, who continues when somebody loads it.
	.globl	emu_switch
	.hidden	emu_switch
	.type	emu_switch, @function
emu_switch:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rdi
	.size	emu_switch, .-emu_switch

// void emu_resume(void* load): continues what was stored, and forgets the caller.
	.globl	emu_resume
	.hidden	emu_resume
	.type	emu_resume, @function
emu_resume:
	movq	%rdi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.size	emu_resume, .-emu_resume

// emu_preempted is entered from a signal between any two instructions of a kernel, below its red zone, with the interrupted address on the
// stack. It saves all that kernels use, lets others run, and goes back. What it saves ends with a frame, so that the frames of emu_preempt
// lead to the interrupted ones.
	.globl	emu_preempted
	.hidden	emu_preempted
	.type	emu_preempted, @function
emu_preempted:
	pushfq
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rbx
	pushq	%rbp
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	128(%rsp)
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$512, %rsp
	andq	$-16, %rsp
	fxsave64 (%rsp)
	cld
	call	emu_preempt
	fxrstor64 (%rsp)
	leaq	16(%rbp), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rbp
	popq	%rbx
	popq	%rdx
	popq	%rcx
	popq	%rax
	popfq
	ret	$128
	.size	emu_preempted, .-emu_preempted

#endif
	.section .note.GNU-stack,"",@progbits
