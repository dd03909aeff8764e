// symm_operations.cu: the operations of a handle, as kernels.

extern "C" __global__ void barrier(const __grid_constant__ symm::Handle h, unsigned channel) { symm::barrier(h, channel); }

extern "C" __global__ void put_signal(const __grid_constant__ symm::Handle h, int dst, unsigned channel) { symm::put_signal(h, dst, channel); }

extern "C" __global__ void wait_signal(const __grid_constant__ symm::Handle h, int src, unsigned channel) { symm::wait_signal(h, src, channel); }

extern "C" __global__ void put(const __grid_constant__ symm::Handle h, int dst, const void* src, symm::u64 n) { symm::put(h, dst, 0, src, n); }

extern "C" __global__ void get(const __grid_constant__ symm::Handle h, int src, void* dst, symm::u64 n) { symm::get(h, src, 0, dst, n); }

extern "C" __global__ void put_with_signal(const __grid_constant__ symm::Handle h, int dst, const void* src, symm::u64 n, unsigned signal, symm::u64 value) {
  symm::put_with_signal(h, dst, 0, src, n, signal, value);
}

extern "C" __global__ void signal_add(const __grid_constant__ symm::Handle h, int dst, unsigned signal, symm::u64 n) {
  symm::signal(h, dst, symm::signal_add(signal, n));
}

extern "C" __global__ void wait_for_signal(const __grid_constant__ symm::Handle h, unsigned signal, symm::u64 value, bool at_least) {
  symm::wait_for_signal(h, signal, value, at_least);
}
