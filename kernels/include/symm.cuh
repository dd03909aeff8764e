// symm.cuh: symmetric memory for kernels. Every snippet includes it before its first line, on both
// devices.
//
// A kernel takes a symm::Handle by value. The handle knows the rank, the size of the group, every
// rank's copy of one tensor, and the words by which ranks signal each other. A kernel accesses a
// peer's data through its pointer, h.buffer<T>(peer), and meets peers in one of these ways, from
// the simplest to the fastest:
//
//   symm::barrier(h, channel)                       all ranks, by one block of each
//   symm::put_signal, symm::wait_signal             one peer, one bit, consumed by the wait
//   symm::put, symm::get, symm::signal, symm::flush data, and then a signal in a 64-bit word of the
//   symm::put_with_signal, symm::wait_for_signal    tensor's pad; members on other hosts, too
//   symm::store_packet, symm::load_packet           12 bytes of data together with their flag
//   symm::store_line, symm::load_line               the same with 120 bytes, by eight lanes
//
// Every wait returns a bool. It is false if the host aborts the call or the deadline passes: the
// wait has then recorded its rank, its peer and the value it waited for, and the kernel should
// return without touching user data. No wait traps, so the GPU's context and the tensors of all
// ranks survive a deadlock. A kernel that polls words of its own gets the same behaviour from
// symm::Patience.
//
// The protocols are explained where they are implemented:
//
//   symm/remote.cuh    put, get, signal, flush
//   symm/handle.cuh    symm::Handle
//   symm/signal.cuh    put_signal, wait_signal
//   symm/order.cuh     loads and stores with acquire and release order
//   symm/barrier.cuh   barrier
//   symm/wait.cuh      wait_until, Patience
//   symm/packet.cuh    packets of 16 bytes
//   symm/context.cuh   rank, deadline, and the page the host reads
//   symm/line.cuh      lines of 128 bytes
//   symm/float16.cuh   symm::f16, symm::bf16
//   symm/net.cuh       the ring to other hosts
//   symm/team.cuh      teams of threads: Thread, Warp, Block
//   symm/kernel.cuh    helpers for the kernels of symmrepl's own operations
//
// nccl/multimem.h has NVLink multicast; nccl_device.h includes it. All these headers are built in;
// no file is needed.
#pragma once
#include "symm/barrier.cuh"
#include "symm/float16.cuh"
#include "symm/kernel.cuh"
#include "symm/line.cuh"
#include "symm/packet.cuh"
#include "symm/remote.cuh"
