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

// emu_preempted is entered from a signal between any two instructions of a kernel, whose registers machine::preempt has stored on the stack. It
// lets others run, and ends in the handler of its trap, which goes back.
	.globl	emu_preempted
	.hidden	emu_preempted
	.type	emu_preempted, %function
emu_preempted:
	bl	emu_preempt
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
