// Package cuda is the device seam on NVIDIA GPUs.
//
// A process opens one device by [Open]. That loads the driver, takes the primary context (which NCCL and
// every other library of the process use too) and makes the watch page. From then on memory is the
// driver's, shared memory is a mapping of physical memory that travels between processes as a file
// descriptor, streams are the driver's streams apart from the null stream, and kernels come from package
// cubin, compiled for exactly this GPU or read from the cache on disk.
//
// Waits on a stream poll for 50 µs and then sleep, so that an idle rank costs no core. A kernel that waits for a
// peer ends when the host raises the abort word of the watch page, and the wait on its stream with it. While a
// stream captures, calls that would invalidate the recording are refused here, before the driver sees them. An
// error that loses the context is marked Poisoned: the process cannot use its GPU any more, whatever it calls.
//
// [Probe] looks at the machine without opening a device; Top and Links of an open device ask NVML.
package cuda
