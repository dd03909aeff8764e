// Package cuda implements package device on NVIDIA GPUs.
//
// A process opens one device by [Open]. That loads the driver, retains the primary context (which
// NCCL and all other libraries of the process use too) and makes the watch page. Memory comes from
// the driver; shared memory is a mapping of physical memory that travels between processes as a
// file descriptor; streams are driver streams that do not synchronise with the null stream; and
// kernels come from package cubin, compiled for exactly this GPU or read from the cache on disk.
//
// Waits on a stream poll for 50 µs and then sleep, so that an idle rank costs no core. When the
// host raises the abort word of the watch page, kernels that wait for a peer end, and so do host
// waits on their streams. While a stream captures, this package refuses calls that would invalidate
// the recording, before the driver sees them. An error that loses the context is marked Poisoned:
// the process cannot use its GPU any more, whatever it calls.
//
// [Probe] looks at the machine without opening a device; Top and Links of an open device ask NVML.
package cuda
