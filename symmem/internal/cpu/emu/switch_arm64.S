// Stack switching by hand: what the calling convention says survives a call, and no more.
#if defined(__aarch64__)

	.text

// void emu_switch(void** save, void* load): stores the stack pointer of the caller, who continues when somebody loads it.
	.globl	emu_switch
	.hidden	emu_switch
	.type	emu_switch, %function
emu_switch:
	stp	x29, x30, [sp, #-160]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	x2, sp
	str	x2, [x0]
	mov	x0, x1
	.size	emu_switch, .-emu_switch

// void emu_resume(void* load): continues what was stored, and forgets the caller.
	.globl	emu_resume
	.hidden	emu_resume
	.type	emu_resume, %function
emu_resume:
	mov	sp, x0
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #160
	ret
	.size	emu_resume, .-emu_resume

// emu_preempted is entered from a signal between any two instructions of a kernel, with a machine::Saved on the stack that has the general
// registers. It stores the vector registers, lets others run, loads them, and ends in the handler of its trap, which restores the rest.
	.globl	emu_preempted
	.hidden	emu_preempted
	.type	emu_preempted, %function
emu_preempted:
	stp	q0, q1, [sp, #16]
	stp	q2, q3, [sp, #48]
	stp	q4, q5, [sp, #80]
	stp	q6, q7, [sp, #112]
	stp	q8, q9, [sp, #144]
	stp	q10, q11, [sp, #176]
	stp	q12, q13, [sp, #208]
	stp	q14, q15, [sp, #240]
	stp	q16, q17, [sp, #272]
	stp	q18, q19, [sp, #304]
	stp	q20, q21, [sp, #336]
	stp	q22, q23, [sp, #368]
	stp	q24, q25, [sp, #400]
	stp	q26, q27, [sp, #432]
	stp	q28, q29, [sp, #464]
	stp	q30, q31, [sp, #496]
	mrs	x0, fpsr
	mrs	x1, fpcr
	add	x2, sp, #528
	stp	x0, x1, [x2]
	bl	emu_preempt
	add	x2, sp, #528
	ldp	x0, x1, [x2]
	msr	fpsr, x0
	msr	fpcr, x1
	ldp	q0, q1, [sp, #16]
	ldp	q2, q3, [sp, #48]
	ldp	q4, q5, [sp, #80]
	ldp	q6, q7, [sp, #112]
	ldp	q8, q9, [sp, #144]
	ldp	q10, q11, [sp, #176]
	ldp	q12, q13, [sp, #208]
	ldp	q14, q15, [sp, #240]
	ldp	q16, q17, [sp, #272]
	ldp	q18, q19, [sp, #304]
	ldp	q20, q21, [sp, #336]
	ldp	q22, q23, [sp, #368]
	ldp	q24, q25, [sp, #400]
	ldp	q26, q27, [sp, #432]
	ldp	q28, q29, [sp, #464]
	ldp	q30, q31, [sp, #496]
	.globl	emu_preempted_end
	.hidden	emu_preempted_end
emu_preempted_end:
	brk	#0x5e00
	.size	emu_preempted, .-emu_preempted

// emu_own_shared is what the TLS descriptors of modules call, with their own convention: x0 is the descriptor, whose second word is an offset in
// shared memory; the result is the distance of that place from the thread pointer; no other register changes.
	.globl	emu_own_shared
	.hidden	emu_own_shared
	.type	emu_own_shared, %function
emu_own_shared:
	stp	x1, x2, [sp, #-16]!
	ldr	x1, [x0, #8]
	mrs	x2, tpidr_el0
	adrp	x0, :gottprel:emu_current_executor
	ldr	x0, [x0, :gottprel_lo12:emu_current_executor]
	ldr	x0, [x2, x0]
	ldr	x0, [x0, #8]        // Worker.shared
	add	x0, x0, x1
	sub	x0, x0, x2
	ldp	x1, x2, [sp], #16
	ret
	.size	emu_own_shared, .-emu_own_shared

#endif
	.section .note.GNU-stack,"",%progbits
