// symm_host.hpp: symmetric memory for the processes of a host, and launches of kernels of symm.cuh on it, with nothing but a C++17 compiler.
//
// There are two devices. On a GPU, memory is made by the driver's VMM calls and kernels are cubins; libcuda.so.1 is opened when the program
// runs, so that the program builds without CUDA; with SYMM_MEMORY=nccl symmetric memory is NCCL's, in windows. On the emulated one, which SYMM_DEVICE=cpu chooses, memory is that of memfd_create and kernels
// are shared objects beside the program. Ranks come from torchrun, mpirun or srun, or from RANK and WORLD_SIZE; those of a host find each
// other by an abstract Unix socket and pass descriptors of memory over it.
//
//   symm::World world;                                    // this process is one rank
//   symm::Tensor x = symm::empty(symm::F32, {100});       // the same on all ranks, zeroed
//   symm::Handle h = symm::rendezvous(x);                 // knows all ranks' copies
//   symm::Source source("cell2");                         // cell2.cubin or cell2.so
//   symm::Kernel sum = source.kernel("sum", {"symm::Handle", "float*", "int"});
//   sum.launch({1}, {32}, h, out, 100);
//
// What fails ends the program with a message and status 1.
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "symm_host.h"

namespace symm {

[[noreturn]] inline void fail(const char* format, ...) {
  char text[1000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

// ---- The processes of the host.

// Place is what a launcher says of this process.
struct Place {
  int rank = 0, size = 1, local = 0;
  std::string job;  // the same for all processes of the job

  Place() {
    const char* const names[][3] = {
        {"RANK", "WORLD_SIZE", "LOCAL_RANK"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}, {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}};
    for (const auto& n : names) {
      if (!getenv(n[0]) || !getenv(n[1])) continue;
      rank = atoi(getenv(n[0])), size = atoi(getenv(n[1]));
      local = getenv(n[2]) ? atoi(getenv(n[2])) : rank;
      break;
    }
    job = std::to_string(getppid());
    for (const char* name : {"MASTER_PORT", "PMIX_NAMESPACE", "SLURM_JOB_ID"})
      if (getenv(name)) {
        job = std::string(name) + "-" + getenv(name);
        break;
      }
    if (rank < 0 || rank >= size || size > SYMM_MAX_RANKS) fail("rank %d of %d: a handle has room for %d ranks", rank, size, SYMM_MAX_RANKS);
  }
};

// Peers are the other processes. Rank 0 has a connection to each.
class Peers {
 public:
  explicit Peers(const Place& p) : rank_(p.rank), size_(p.size), ends_(p.size, -1) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "symm-%d-%s", (int)getuid(), p.job.c_str());
    const socklen_t length = (socklen_t)(offsetof(sockaddr_un, sun_path) + 1 + std::min<size_t>((size_t)n, sizeof address.sun_path - 2));
    if (rank_ == 0) {
      const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (size_ > 1 && (bind(listener, (sockaddr*)&address, length) != 0 || listen(listener, size_) != 0)) fail("rank 0 cannot listen at @%s: %s", address.sun_path + 1, strerror(errno));
      for (int i = 1; i < size_; i++) {
        const int end = accept(listener, nullptr, nullptr);
        int who = 0;
        if (end < 0) fail("rank 0: %s", strerror(errno));
        receive(end, &who, sizeof who, nullptr);
        if (who < 1 || who >= size_ || ends_[who] >= 0) fail("rank %d of %d has come, maybe for the second time", who, size_);
        ends_[who] = end;
      }
      close(listener);
      return;
    }
    for (int tries = 0;; tries++) {
      ends_[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(ends_[0], (sockaddr*)&address, length) == 0) break;
      close(ends_[0]);
      if (tries == 600) fail("rank %d: rank 0 has not come within a minute", rank_);
      usleep(100000);
    }
    send(ends_[0], &rank_, sizeof rank_, -1);
  }

  // gather gives everyone's n bytes to everyone, by rank, and everyone's descriptor if there is one.
  std::vector<int> gather(const void* mine, size_t n, void* all, int descriptor = -1) {
    std::vector<int> descriptors(size_, -1);
    char* const place = (char*)all;
    memcpy(place + rank_ * n, mine, n);
    const bool pass = descriptor >= 0;
    if (rank_ != 0) {
      send(ends_[0], mine, n, descriptor);
      receive(ends_[0], all, n * size_, nullptr);
      for (int p = 0; pass && p < size_; p++) receive_one(ends_[0], &descriptors[p]);
      return descriptors;
    }
    if (pass) descriptors[0] = dup(descriptor);
    for (int p = 1; p < size_; p++) receive(ends_[p], place + p * n, n, pass ? &descriptors[p] : nullptr);
    for (int p = 1; p < size_; p++) {
      send(ends_[p], all, n * size_, -1);
      for (int q = 0; pass && q < size_; q++) send(ends_[p], "", 1, descriptors[q]);
    }
    return descriptors;
  }

  void meet() {
    std::vector<char> all(size_);
    gather("", 1, all.data());
  }

 private:
  int rank_, size_;
  std::vector<int> ends_;

  void send(int end, const void* data, size_t n, int descriptor) {
    const char* p = (const char*)data;
    while (n > 0) {
      iovec part{(void*)p, n};
      msghdr m{};
      m.msg_iov = &part, m.msg_iovlen = 1;
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
      if (descriptor >= 0) {
        m.msg_control = control, m.msg_controllen = sizeof control;
        cmsghdr* c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
      }
      const ssize_t k = sendmsg(end, &m, MSG_NOSIGNAL);
      if (k < 0 && errno == EINTR) continue;
      if (k <= 0) fail("rank %d: another rank has ended", rank_);
      p += k, n -= (size_t)k, descriptor = -1;
    }
  }

  void receive(int end, void* data, size_t n, int* descriptor) {
    char* p = (char*)data;
    while (n > 0) {
      iovec part{p, n};
      msghdr m{};
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
      m.msg_iov = &part, m.msg_iovlen = 1, m.msg_control = control, m.msg_controllen = sizeof control;
      const ssize_t k = recvmsg(end, &m, MSG_CMSG_CLOEXEC);
      if (k < 0 && errno == EINTR) continue;
      if (k <= 0) fail("rank %d: another rank has ended", rank_);
      for (cmsghdr* c = CMSG_FIRSTHDR(&m); c && descriptor; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_type == SCM_RIGHTS) memcpy(descriptor, CMSG_DATA(c), sizeof(int));
      p += k, n -= (size_t)k;
    }
  }
  void receive_one(int end, int* descriptor) {
    char byte;
    receive(end, &byte, 1, descriptor);
  }
};

// ---- Devices.

// Argument is a kernel's argument as the C value that is copied.
struct Argument {
  alignas(16) char bytes[sizeof(symm_handle)];
  size_t size = 0;
};

struct Launch {
  unsigned grid[3], block[3], shared;
  std::vector<Argument>* arguments;
};

// A Module is a loaded cubin or shared object, a Function a kernel of it.
struct Function {
  void* entry = nullptr;
  void* module = nullptr;
  const unsigned* places = nullptr;  // emulated: offset and size of each parameter
  unsigned bytes = 0;                // emulated: of all arguments
  unsigned shared = 48 << 10;        // bytes of dynamic shared memory that it may have so far
};

class Device {
 public:
  virtual ~Device() = default;
  virtual char* allocate(size_t n) = 0;  // zeroed, until the program ends
  // symmetric allocates n bytes, zeroed, on every rank and maps everyone's: their addresses, by rank.
  virtual std::vector<char*> symmetric(size_t n, Peers&, int rank, int size) = 0;
  virtual void write(char* to, const void* from, size_t n) = 0;  // these wait for the kernels before them
  virtual void read(void* to, const char* from, size_t n) = 0;
  virtual void copy(char* to, const char* from, size_t n) = 0;  // in the order of the kernels
  virtual void* load(const std::string& name) = 0;
  virtual Function function(void* module, const std::string& name) = 0;
  virtual void launch(Function&, const Launch&) = 0;
  virtual void synchronize() = 0;
};

// check_abi compares the layouts that a module was compiled with to those of symm_host.h.
inline void check_abi(const std::string& name, const unsigned* theirs) {
  const unsigned ours[4] = SYMM_ABI;
  if (memcmp(ours, theirs, sizeof ours) != 0)
    fail("%s was compiled with version %u of symm::Handle, %u bytes, and symm_host.h has version %u, %u bytes: export them again, together", name.c_str(), theirs[0], theirs[2], ours[0], ours[2]);
}

// Cuda is a GPU, by the driver's own calls.
class Cuda : public Device {
 public:
  explicit Cuda(int local) {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library_) fail("there is no driver, libcuda.so.1; SYMM_DEVICE=cpu runs the program on the emulated device");
    call<unsigned>("cuInit")(0);
    int count = 0, device = 0;
    call<int*>("cuDeviceGetCount")(&count);
    if (count == 0) fail("there is no GPU; SYMM_DEVICE=cpu runs the program on the emulated device");
    call<int*, int>("cuDeviceGet")(&device, local % count);
    void* context = nullptr;
    call<void**, int>("cuDevicePrimaryCtxRetain")(&context, device);
    call<void*>("cuCtxSetCurrent")(context);
    device_ = device;
  }

  char* allocate(size_t n) override {
    Pointer p = 0;
    call<Pointer*, size_t>("cuMemAlloc_v2")(&p, std::max<size_t>(n, 16));
    call<Pointer, unsigned char, size_t>("cuMemsetD8_v2")(p, 0, std::max<size_t>(n, 16));
    return (char*)p;
  }

  std::vector<char*> symmetric(size_t n, Peers& peers, int rank, int size) override {
    Properties properties{};
    properties.type = kPinned, properties.handles = kPosixDescriptor, properties.location = {kDevice, device_};
    size_t unit = 0;
    call<size_t*, const Properties*, int>("cuMemGetAllocationGranularity")(&unit, &properties, 1);
    const size_t bytes = (std::max<size_t>(n, 1) + unit - 1) / unit * unit;
    uint64_t own = 0;
    call<uint64_t*, size_t, const Properties*, uint64_t>("cuMemCreate")(&own, bytes, &properties, 0);
    int descriptor = -1;
    call<void*, uint64_t, int, uint64_t>("cuMemExportToShareableHandle")(&descriptor, own, kPosixDescriptor, 0);
    std::vector<size_t> sizes(size);
    std::vector<int> descriptors = peers.gather(&bytes, sizeof bytes, sizes.data(), descriptor);
    std::vector<char*> addresses;
    for (int p = 0; p < size; p++) {
      if (sizes[p] != bytes) fail("rank %d allocates %zu bytes where rank %d allocates %zu", p, sizes[p], rank, bytes);
      uint64_t memory = own;
      if (p != rank) call<uint64_t*, void*, int>("cuMemImportFromShareableHandle")(&memory, (void*)(uintptr_t)descriptors[p], kPosixDescriptor);
      close(descriptors[p]);
      Pointer at = 0;
      call<Pointer*, size_t, size_t, Pointer, uint64_t>("cuMemAddressReserve")(&at, bytes, 0, 0, 0);
      call<Pointer, size_t, size_t, uint64_t, uint64_t>("cuMemMap")(at, bytes, 0, memory, 0);
      const Access access{{kDevice, device_}, kReadWrite};
      call<Pointer, size_t, const Access*, size_t>("cuMemSetAccess")(at, bytes, &access, 1);
      addresses.push_back((char*)at);
    }
    close(descriptor);
    clear(addresses[rank], bytes);
    peers.meet();  // nobody writes to memory that is being cleared
    return addresses;
  }

  void write(char* to, const void* from, size_t n) override { call<Pointer, const void*, size_t>("cuMemcpyHtoD_v2")((Pointer)to, from, n); }
  void read(void* to, const char* from, size_t n) override { call<void*, Pointer, size_t>("cuMemcpyDtoH_v2")(to, (Pointer)from, n); }
  void copy(char* to, const char* from, size_t n) override { call<Pointer, Pointer, size_t, void*>("cuMemcpyAsync")((Pointer)to, (Pointer)from, n, nullptr); }

  void* load(const std::string& name) override {
    std::ifstream file(name + ".cubin", std::ios::binary);
    const std::string cubin((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (cubin.empty()) fail("%s.cubin is not there: `make cubins` makes it by nvcc", name.c_str());
    auto* m = new Loaded{nullptr, names(cubin)};
    call<void**, const void*>("cuModuleLoadData")(&m->module, cubin.data());
    unsigned abi[4] = {};
    Pointer at = 0;
    size_t n = 0;
    call<Pointer*, size_t*, void*, const char*>("cuModuleGetGlobal_v2")(&at, &n, m->module, "symm_abi");
    if (n == sizeof abi) read(abi, (const char*)at, n);
    check_abi(name + ".cubin", abi);
    return m;
  }

  Function function(void* module, const std::string& name) override {
    auto* m = (Loaded*)module;
    const auto found = m->names.find(name);
    if (found == m->names.end()) fail("the module has no kernel %s", name.c_str());
    Function f;
    call<void**, void*, const char*>("cuModuleGetFunction")(&f.entry, m->module, found->second.c_str());
    return f;
  }

  void launch(Function& f, const Launch& l) override {
    std::vector<void*> pointers;
    for (Argument& a : *l.arguments) pointers.push_back(a.bytes);
    if (l.shared > f.shared) {
      call<void*, int, int>("cuFuncSetAttribute")(f.entry, kMaxDynamicShared, (int)l.shared);
      f.shared = l.shared;
    }
    call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**>("cuLaunchKernel")(
        f.entry, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared, nullptr, pointers.data(), nullptr);
  }

  void synchronize() override { call<>("cuCtxSynchronize")(); }

 protected:
  typedef uint64_t Pointer;

  void clear(char* p, size_t n) {
    call<Pointer, unsigned char, size_t>("cuMemsetD8_v2")((Pointer)p, 0, n);
    synchronize();
  }

 private:
  enum { kPinned = 1, kPosixDescriptor = 1, kDevice = 1, kReadWrite = 3, kMaxDynamicShared = 8 };
  struct Location { int type, id; };
  struct Properties {  // CUmemAllocationProp
    int type, handles;
    Location location;
    void* windows;
    unsigned char flags[8];
  };
  struct Access { Location location; int flags; };  // CUmemAccessDesc
  static_assert(sizeof(Properties) == 32 && sizeof(Access) == 12, "as in the driver");
  struct Loaded { void* module; std::map<std::string, std::string> names; };

  void* library_;
  int device_;
  std::map<std::string, void*> symbols_;

  // call returns a function of the driver that ends the program if it fails.
  template <class... Args>
  std::function<void(Args...)> call(const char* name) {
    void*& symbol = symbols_[name];
    if (!symbol && !(symbol = dlsym(library_, name))) fail("the driver is too old: it has no %s", name);
    auto* const f = (int (*)(Args...))symbol;
    auto* const name_of = (int (*)(int, const char**))dlsym(library_, "cuGetErrorName");
    return [=](Args... args) {
      const int status = f(args...);
      const char* text = "an error";
      if (status != 0 && name_of) name_of(status, &text);
      if (status != 0) fail("%s: %s (%d)", name, text, status);
    };
  }

  // names returns the functions of a cubin, which is an ELF file, by their names in C++ without parameters: "sum", "my::scale<float>".
  static std::map<std::string, std::string> names(const std::string& cubin) {
    std::map<std::string, std::string> found;
    const auto at = [&](size_t offset, size_t bytes) {
      uint64_t v = 0;
      if (offset + bytes <= cubin.size()) memcpy(&v, cubin.data() + offset, bytes);
      return (size_t)v;
    };
    const size_t sections = at(0x28, 8), entry = at(0x3a, 2), count = at(0x3c, 2);
    for (size_t i = 0; i < count; i++) {
      const size_t s = sections + i * entry;
      if (at(s + 4, 4) != 2) continue;  // SHT_SYMTAB
      const size_t symbols = at(s + 0x18, 8), size = at(s + 0x20, 8), texts = at(sections + at(s + 0x28, 4) * entry + 0x18, 8);
      for (size_t y = symbols; y < symbols + size; y += 24) {
        if ((at(y + 4, 1) & 15) != 2) continue;  // STT_FUNC
        const std::string mangled = cubin.c_str() + texts + at(y, 4);
        int status = 0;
        char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
        std::string name = status == 0 ? text : mangled;
        free(text);
        if (status == 0) name = plain(name);
        found[name] = mangled;
      }
    }
    return found;
  }

  // plain cuts the result, which templates have, and the parameters off a function's name, and makes 4u of its arguments 4.
  static std::string plain(std::string name) {
    int depth = 0;
    for (size_t i = 0; i < name.size(); i++) {
      while (depth > 0 && i > 0 && isdigit(name[i - 1]) && (name[i] == 'u' || name[i] == 'l')) name.erase(i, 1);
      if (name[i] == '<') depth++;
      if (name[i] == '>') depth--;
      if (name[i] == '(' && depth == 0) {
        name.resize(i);
        break;
      }
    }
    return name.rfind("void ", 0) == 0 ? name.substr(5) : name;
  }
};

// Nccl is a GPU whose symmetric memory is made by NCCL 2.29.2 or later, and registered as windows: libnccl.so.2, or the file that SYMM_NCCL
// names. Kernels of nccl_device.h and NCCL's own operations can use the same memory. Ranks that share a GPU need NCCL 2.30.3 and
// NCCL_MULTI_RANK_GPU_ENABLE=1.
class Nccl : public Cuda {
 public:
  Nccl(int local, Peers& peers, int rank, int size) : Cuda(local) {
    const char* const file = getenv("SYMM_NCCL") ? getenv("SYMM_NCCL") : "libnccl.so.2";
    library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library_) fail("SYMM_MEMORY=nccl needs NCCL: %s; name its file in SYMM_NCCL", dlerror());
    Id id{};
    if (rank == 0) call<Id*>("ncclGetUniqueId")(&id);
    std::vector<Id> ids((size_t)size);
    peers.gather(&id, sizeof id, ids.data());
    call<void**, int, Id, int>("ncclCommInitRank")(&communicator_, size, ids[0], rank);
  }

  std::vector<char*> symmetric(size_t n, Peers& peers, int rank, int size) override {
    const size_t bytes = (std::max<size_t>(n, 1) + 4095) & ~(size_t)4095;
    std::vector<size_t> sizes((size_t)size);
    peers.gather(&bytes, sizeof bytes, sizes.data());
    for (int p = 0; p < size; p++)
      if (sizes[(size_t)p] != bytes) fail("rank %d allocates %zu bytes where rank %d allocates %zu", p, sizes[(size_t)p], rank, bytes);
    void *own = nullptr, *window = nullptr;
    call<void**, size_t>("ncclMemAlloc")(&own, bytes);
    clear((char*)own, bytes);
    call<void*, void*, size_t, void**, int>("ncclCommWindowRegister")(communicator_, own, bytes, &window, kSymmetric);
    if (!window) fail("NCCL makes no window of this memory: it needs GPUs that reach each other's memory, and NCCL_CUMEM_ENABLE is not 0");
    std::vector<char*> addresses;
    for (int p = 0; p < size; p++) {
      void* at = own;
      if (p != rank) call<void*, size_t, int, void**>("ncclGetPeerDevicePointer")(window, 0, p, &at);
      if (!at) fail("rank %d cannot load and store the memory of rank %d", rank, p);
      addresses.push_back((char*)at);
    }
    windows_[(char*)own] = window;
    peers.meet();  // nobody writes to memory that is being cleared
    return addresses;
  }

  void* communicator() const { return communicator_; }  // an ncclComm_t
  // window is the ncclWindow_t of the memory that begins at an address.
  void* window(char* start) const { return windows_.at(start); }

 private:
  enum { kSymmetric = 1 };           // NCCL_WIN_COLL_SYMMETRIC
  struct Id { char internal[128]; };  // ncclUniqueId

  void *library_, *communicator_ = nullptr;
  std::map<char*, void*> windows_;

  // call returns a function of NCCL that ends the program if it fails.
  template <class... Args>
  std::function<void(Args...)> call(const char* name) {
    auto* const f = (int (*)(Args...))dlsym(library_, name);
    if (!f) fail("NCCL is too old: it has no %s, which 2.29.2 has", name);
    auto* const last = (const char* (*)(void*))dlsym(library_, "ncclGetLastError");
    return [=](Args... args) {
      const int status = f(args...);
      if (status != 0) fail("%s: error %d of NCCL: %s", name, status, last ? last(nullptr) : "");
    };
  }
};

// Emulator is the emulated device of emulator.so: its functions are those of emulator/cpu/emu/api.h.
class Emulator : public Device {
 public:
  Emulator() {
    library_ = dlopen(path("emulator.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) fail("%s; `make emulated` makes it", dlerror());
    device_ = call<void*, const uint32_t*>("emu_device_open")(&abort_);
    stream_ = call<void*, void*>("emu_stream_open")(device_);
  }

  static std::string path(const std::string& name) { return name.find('/') == std::string::npos ? "./" + name : name; }

  char* allocate(size_t n) override {
    int counted = 0;
    return (char*)call<void*, size_t, int*>("emu_alloc")(std::max<size_t>(n, 16), &counted);
  }

  std::vector<char*> symmetric(size_t n, Peers& peers, int rank, int size) override {
    const size_t bytes = (std::max<size_t>(n, 1) + 4095) & ~(size_t)4095;
    const int own = memfd_create("symm", MFD_CLOEXEC);
    if (own < 0 || ftruncate(own, (off_t)bytes) != 0) fail("no memory: %s", strerror(errno));
    std::vector<size_t> sizes(size);
    std::vector<int> descriptors = peers.gather(&bytes, sizeof bytes, sizes.data(), own);
    std::vector<char*> addresses;
    for (int p = 0; p < size; p++) {
      if (sizes[p] != bytes) fail("rank %d allocates %zu bytes where rank %d allocates %zu", p, sizes[p], rank, bytes);
      void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[p], 0);
      if (at == MAP_FAILED) fail("no memory: %s", strerror(errno));
      close(descriptors[p]);
      addresses.push_back((char*)at);
    }
    close(own);
    return addresses;
  }

  void write(char* to, const void* from, size_t n) override {
    synchronize();
    memcpy(to, from, n);
  }
  void read(void* to, const char* from, size_t n) override {
    synchronize();
    memcpy(to, from, n);
  }
  void copy(char* to, const char* from, size_t n) override { call<void, void*, uintptr_t, uintptr_t, size_t>("emu_stream_copy")(stream_, (uintptr_t)to, (uintptr_t)from, n); }

  void* load(const std::string& name) override {
    const std::string file = path(name + ".so");
    char* error = nullptr;
    void* const m = call<void*, const char*, char**>("emu_module_load")(file.c_str(), &error);
    if (!m) fail("%s; `make emulated` makes it", error);
    const auto* const abi = (const unsigned*)dlsym(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), "symm_abi");
    const unsigned none[4] = {};
    check_abi(file, abi ? abi : none);
    return m;
  }

  Function function(void* module, const std::string& name) override {
    struct { const char* name; uint32_t count; const uint32_t* places; uint32_t bytes; const void* entry; } k;
    for (uint32_t i = 0; call<int, void*, uint32_t, void*>("emu_module_kernel")(module, i, &k); i++) {
      if (name != k.name) continue;
      Function f;
      f.entry = (void*)k.entry, f.module = module, f.places = k.places, f.bytes = k.bytes;
      return f;
    }
    fail("the module has no kernel %s", name.c_str());
  }

  void launch(Function& f, const Launch& l) override {
    std::vector<char> data(f.bytes);
    for (size_t i = 0; i < l.arguments->size(); i++) {
      const Argument& a = (*l.arguments)[i];
      if (a.size != f.places[2 * i + 1]) fail("argument %zu has %zu bytes, and its parameter %u", i + 1, a.size, f.places[2 * i + 1]);
      memcpy(data.data() + f.places[2 * i], a.bytes, a.size);
    }
    const uint32_t shape[7] = {l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], l.shared};
    call<void, void*, void*, const void*, const void*, const void*, size_t>("emu_stream_launch")(stream_, f.module, f.entry, shape, data.data(), data.size());
  }

  void synchronize() override {
    std::vector<char> fault(8192);
    if (call<int, void*, void*>("emu_stream_synchronize")(stream_, fault.data())) fail("the kernel %s has failed on the emulated device", fault.data());
  }

 private:
  void *library_, *device_, *stream_;
  uint32_t abort_ = 0;

  template <class R, class... Args>
  R (*call(const char* name))(Args...) {
    void* const symbol = dlsym(library_, name);
    if (!symbol) fail("emulator.so has no %s", name);
    return (R(*)(Args...))symbol;
  }
};

// ---- The world of this process.

// Memory is an allocation, here and on all ranks if it is symmetric.
struct Memory {
  char* data;
  size_t bytes;
  std::vector<char*> everywhere;  // empty for ordinary memory
};

struct Timeout { double seconds; };  // options of a launch
struct Shared { long bytes; };

class World {
 public:
  static constexpr int kChannels = 64;       // for barriers and signals: a kernel with a barrier in every block has at most so many blocks
  static constexpr size_t kPadBytes = 9216;  // of every symmetric tensor

  Place place;
  Peers peers{place};
  std::unique_ptr<Device> device;
  std::vector<char*> signals;
  char* watch = nullptr;
  double timeout = 30;  // seconds, of each wait; 0: for ever
  uint32_t launches = 0;
  bool testing = false;
  int checks = 0, wrong = 0;

  World() {
    const std::string kind = setting("SYMM_DEVICE"), symmetric = setting("SYMM_MEMORY");
    if (!symmetric.empty() && symmetric != "nccl") fail("SYMM_MEMORY is %s: it is nccl, or it is not set", symmetric.c_str());
    if (kind == "cpu" && symmetric == "nccl") fail("SYMM_MEMORY=nccl needs a GPU: leave out SYMM_DEVICE=cpu");
    if (kind == "cpu") device.reset(new Emulator);
    else if (symmetric == "nccl") device.reset(new Nccl(place.local, peers, place.rank, place.size));
    else device.reset(new Cuda(place.local));
    signals = device->symmetric(SYMM_SIGNAL_BYTES(kChannels, place.size), peers, place.rank, place.size);
    watch = device->allocate(SYMM_WATCH_BYTES);
    device->synchronize();
    peers.meet();
  }

  static std::string setting(const char* name) { return getenv(name) ? getenv(name) : ""; }

  symm_context context(double seconds) {
    symm_context c{};
    c.watch = (uint64_t)watch, c.timeout_ns = (uint64_t)(seconds * 1e9), c.rank = place.rank, c.world_size = place.size;
    c.ordinal = ++launches, c.channels = kChannels;
    return c;
  }

  // synchronize waits for this rank's kernels. A wait of one that gave up ends the program.
  void synchronize() {
    device->synchronize();
    symm_wait_record r;
    device->read(&r, watch + SYMM_FAULT_AT, sizeof r);
    if (r.state != 0)
      fail("rank %u waited %.1f s for rank %u on channel %u: it saw %llu and wants %llu; which rank did not launch its kernel?", r.rank, (double)r.elapsed_ns / 1e9, r.peer,
           r.channel, (unsigned long long)r.seen, (unsigned long long)r.want);
  }
};

inline World*& current() {
  static World* world;
  return world;
}
inline World& world() {
  if (!current()) current() = new World;
  return *current();
}
inline long rank() { return world().place.rank; }
inline long world_size() { return world().place.size; }
inline void synchronize() { world().synchronize(); }
// meet waits for this rank's kernels, and then for all ranks.
inline void meet() {
  synchronize();
  world().peers.meet();
}

// ---- Numbers of element types.

enum DType { F16, BF16, F32, F64, I8, U8, I32, U32, I64, U64 };

inline size_t size_of(DType d) {
  switch (d) {
    case I8: case U8: return 1;
    case F16: case BF16: return 2;
    case F32: case I32: case U32: return 4;
    default: return 8;
  }
}
inline bool is_float(DType d) { return d <= F64; }

inline uint16_t to_bf16(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  if (f != f) return 0x7fff;
  return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
inline float from_bf16(uint16_t h) {
  const uint32_t u = (uint32_t)h << 16;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
inline float from_f16(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  float f = exponent == 0 ? std::ldexp((float)fraction, -24) : exponent == 31 ? (fraction ? NAN : INFINITY) : std::ldexp((float)(fraction + 1024), exponent - 25);
  return h >> 15 ? -f : f;
}
inline uint16_t to_f16(float f) {
  const uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  const float a = std::fabs(f);
  if (f != f) return 0x7fff;
  if (a >= 65520) return sign | 0x7c00;
  if (a < 6.103515625e-05f) return sign | (uint16_t)std::nearbyint(std::ldexp(a, 24));
  int e;
  const float m = std::frexp(a, &e);  // in [0.5, 1)
  const int n = (int)std::nearbyint(std::ldexp(m, 11));
  return sign | (uint16_t)(((e + 14) << 10) + (n - 1024));
}

// get and set read and write an element as a number.
inline double get(DType d, const char* p) {
  switch (d) {
    case F16: { uint16_t v; memcpy(&v, p, 2); return from_f16(v); }
    case BF16: { uint16_t v; memcpy(&v, p, 2); return from_bf16(v); }
    case F32: { float v; memcpy(&v, p, 4); return v; }
    case F64: { double v; memcpy(&v, p, 8); return v; }
    case I8: return (int8_t)*p;
    case U8: return (uint8_t)*p;
    case I32: { int32_t v; memcpy(&v, p, 4); return v; }
    case U32: { uint32_t v; memcpy(&v, p, 4); return v; }
    case I64: { int64_t v; memcpy(&v, p, 8); return (double)v; }
    default: { uint64_t v; memcpy(&v, p, 8); return (double)v; }
  }
}
template <class N>
void set(DType d, char* p, N x) {
  switch (d) {
    case F16: { const uint16_t v = to_f16((float)x); memcpy(p, &v, 2); break; }
    case BF16: { const uint16_t v = to_bf16((float)x); memcpy(p, &v, 2); break; }
    case F32: { const float v = (float)x; memcpy(p, &v, 4); break; }
    case F64: { const double v = (double)x; memcpy(p, &v, 8); break; }
    case I8: case U8: *p = (char)x; break;
    case I32: case U32: { const int32_t v = (int32_t)(int64_t)x; memcpy(p, &v, 4); break; }
    default: { const int64_t v = (int64_t)x; memcpy(p, &v, 8); break; }
  }
}

// ---- Tensors.

class Tensor {
 public:
  DType dtype = F32;
  std::vector<long> shape;
  std::shared_ptr<Memory> memory;
  size_t offset = 0;  // bytes from the memory's start

  long numel() const {
    long n = 1;
    for (long s : shape) n *= s;
    return n;
  }
  long bytes() const { return numel() * (long)size_of(dtype); }
  char* data() const { return memory->data + offset; }

  template <class N>
  const Tensor& fill(N x) const {
    std::vector<N> all((size_t)numel(), x);
    return fill_from(all);
  }
  template <class N>
  const Tensor& fill_from(const std::vector<N>& values) const {
    if ((long)values.size() != numel()) fail("%zu values for %ld elements", values.size(), numel());
    std::vector<char> raw((size_t)bytes());
    for (size_t i = 0; i < values.size(); i++) set(dtype, raw.data() + i * size_of(dtype), values[i]);
    world().device->write(data(), raw.data(), raw.size());
    return *this;
  }
  const Tensor& fill_from(const Tensor& t) const {
    world().device->copy(data(), t.data(), (size_t)bytes());
    return *this;
  }
  const Tensor& arange() const {
    std::vector<long> all((size_t)numel());
    for (size_t i = 0; i < all.size(); i++) all[i] = (long)i;
    return fill_from(all);
  }
  // rand sets the elements to values that depend on the seed and the index alone, the same as in the session.
  const Tensor& rand(long seed) const {
    std::vector<double> all((size_t)numel());
    for (size_t i = 0; i < all.size(); i++) {
      uint64_t z = (uint64_t)seed + (i + 1) * 0x9e3779b97f4a7c15ull;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
      z ^= z >> 31;
      all[i] = is_float(dtype) ? (double)((float)(z >> 40) * 0x1p-24f) : (double)(z >> 57);
    }
    return fill_from(all);
  }
  Tensor slice(long lo, long hi) const {
    Tensor t = *this;
    t.shape[0] = hi - lo;
    t.offset += (size_t)(lo * (shape[0] ? numel() / shape[0] : 0)) * size_of(dtype);
    return t;
  }
  Tensor view(std::vector<long> dimensions) const {
    Tensor t = *this;
    long known = 1;
    for (long d : dimensions)
      if (d != -1) known *= d;
    for (long& d : dimensions)
      if (d == -1) d = numel() / known;
    t.shape = dimensions;
    if (t.numel() != numel()) fail("a view of %ld elements has %ld", numel(), t.numel());
    return t;
  }
  std::vector<char> raw() const {
    std::vector<char> raw((size_t)bytes());
    synchronize();
    world().device->read(raw.data(), data(), raw.size());
    return raw;
  }
  // values are the elements as numbers.
  template <class N>
  std::vector<N> values() const {
    const std::vector<char> all = raw();
    std::vector<N> list;
    for (long i = 0; i < numel(); i++) list.push_back((N)get(dtype, all.data() + (size_t)i * size_of(dtype)));
    return list;
  }
};

// empty is a symmetric tensor of zeros, with a signal pad: collective, with the same arguments on all ranks.
inline Tensor empty(DType dtype, std::vector<long> shape) {
  Tensor t;
  t.dtype = dtype, t.shape = shape.empty() ? std::vector<long>{1} : shape;
  const size_t data = ((size_t)t.bytes() + 255) & ~(size_t)255;
  World& w = world();
  const std::vector<char*> everywhere = w.device->symmetric(data + World::kPadBytes, w.peers, w.place.rank, w.place.size);
  t.memory.reset(new Memory{everywhere[(size_t)w.place.rank], data, everywhere});
  return t;
}

// local is a tensor of zeros in ordinary memory of the device.
inline Tensor local(DType dtype, std::vector<long> shape) {
  Tensor t;
  t.dtype = dtype, t.shape = shape.empty() ? std::vector<long>{1} : shape;
  t.memory.reset(new Memory{world().device->allocate((size_t)t.bytes()), (size_t)t.bytes(), {}});
  return t;
}

// ---- Handles and kernels.

class Handle {
 public:
  Tensor tensor;

  // fill is the symm_handle for one launch.
  symm_handle fill(double timeout) const {
    World& w = world();
    symm_handle h{};
    h.context = w.context(timeout);
    h.bytes = (uint64_t)tensor.bytes(), h.pad_bytes = World::kPadBytes;
    for (int p = 0; p < w.place.size; p++) {
      h.buffers[p] = (uint64_t)(tensor.memory->everywhere[(size_t)p] + tensor.offset);
      h.pads[p] = (uint64_t)(tensor.memory->everywhere[(size_t)p] + tensor.memory->bytes);
      h.signals[p] = (uint64_t)w.signals[(size_t)p];
    }
    return h;
  }

  // One-sided operations and signals, in the order of the launches. The signals are words of the tensor's pad, 64 bits each.
  void barrier(long channel, double timeout = -1) const;
  void put_signal(long dst, long channel, double timeout = -1) const;
  void wait_signal(long src, long channel, double timeout = -1) const;
  void put(long dst, const Tensor& src) const { world().device->copy(at(dst), src.data(), (size_t)src.bytes()); }
  void get(long src, const Tensor& dst) const { world().device->copy(dst.data(), at(src), (size_t)dst.bytes()); }
  void put_with_signal(long dst, const Tensor& src, long signal, uint64_t value) const;
  void signal_add(long dst, long signal, uint64_t n) const;
  void wait_for_signal(long signal, const std::string& compare, uint64_t value, double timeout = -1) const;
  uint64_t get_signal(long signal) const {
    uint64_t v = 0;
    synchronize();
    world().device->read(&v, word(signal), sizeof v);
    return v;
  }
  void reset_signal(long signal) const {
    const uint64_t v = 0;
    world().device->write(word(signal), &v, sizeof v);
  }
  // get_remote_tensor is a peer's copy of the tensor.
  Tensor get_remote_tensor(long peer) const {
    Tensor t = tensor;
    t.memory.reset(new Memory{tensor.memory->everywhere.at((size_t)peer), tensor.memory->bytes, {}});
    return t;
  }

 private:
  char* at(long peer) const { return tensor.memory->everywhere.at((size_t)peer) + tensor.offset; }
  char* word(long signal) const { return tensor.memory->data + tensor.memory->bytes + 8 * signal; }
};

class Source;

class Kernel {
 public:
  // launch runs the kernel. args are its arguments, among which may be a Timeout and Shared.
  template <class... Args>
  void launch(std::vector<long> grid, std::vector<long> block, const Args&... args) {
    Launch l{{1, 1, 1}, {1, 1, 1}, 0, nullptr};
    for (size_t i = 0; i < 3; i++) {
      if (i < grid.size()) l.grid[i] = (unsigned)grid[i];
      if (i < block.size()) l.block[i] = (unsigned)block[i];
    }
    double timeout = world().timeout;
    (option(args, timeout, l.shared), ...);
    std::vector<Argument> all;
    (add(all, args, timeout), ...);
    if (all.size() != params_.size()) fail("%s takes %zu arguments, not %zu", name_.c_str(), params_.size(), all.size());
    l.arguments = &all;
    world().device->launch(function(), l);
  }

 private:
  friend class Source;
  Source* source_ = nullptr;
  std::string name_;
  std::vector<std::string> params_;
  Function loaded_;

  Function& function();

  template <class T> void option(const T&, double&, unsigned&) {}
  void option(const Timeout& t, double& timeout, unsigned&) { timeout = t.seconds; }
  void option(const Shared& s, double&, unsigned& shared) { shared = (unsigned)s.bytes; }

  const std::string& param(const std::vector<Argument>& all) const {
    static const std::string none;
    return all.size() < params_.size() ? params_[all.size()] : none;
  }
  template <class C>
  static void push(std::vector<Argument>& all, const C& value) {
    Argument a;
    a.size = sizeof value;
    memcpy(a.bytes, &value, sizeof value);
    all.push_back(a);
  }
  void refuse(const std::vector<Argument>& all) const { fail("argument %zu of %s cannot be given for %s", all.size() + 1, name_.c_str(), param(all).c_str()); }

  void add(std::vector<Argument>&, const Timeout&, double) {}
  void add(std::vector<Argument>&, const Shared&, double) {}
  void add(std::vector<Argument>& all, const Handle& h, double timeout) {
    if (param(all) != "symm::Handle") refuse(all);
    push(all, h.fill(timeout));
  }
  void add(std::vector<Argument>& all, const Tensor& t, double) {
    if (param(all).empty() || param(all).back() != '*') refuse(all);
    push(all, (uint64_t)t.data());
  }
  template <class N>
  void add(std::vector<Argument>& all, const N& x, double) {
    const std::string& p = param(all);
    if (p == "bool") push(all, (bool)x);
    else if (p == "float") push(all, (float)x);
    else if (p == "double") push(all, (double)x);
    else if (p == "half") push(all, to_f16((float)x));
    else if (p == "__nv_bfloat16") push(all, to_bf16((float)x));
    else if (p == "signed char" || p == "unsigned char") push(all, (int8_t)x);
    else if (p == "short" || p == "unsigned short") push(all, (int16_t)(int64_t)x);
    else if (p == "int" || p == "unsigned") push(all, (int32_t)(int64_t)x);
    else if (p == "long long" || p == "unsigned long long" || (!p.empty() && p.back() == '*')) push(all, (int64_t)x);
    else refuse(all);
  }
};

// Source is a text of kernels: NAME.cubin or NAME.so, loaded when the first of them is launched.
class Source {
 public:
  explicit Source(std::string name) : name_(std::move(name)) {}
  // kernel is a kernel of the text. params are the types of its parameters.
  Kernel kernel(const std::string& name, std::vector<std::string> params) {
    Kernel k;
    k.source_ = this, k.name_ = name, k.params_ = std::move(params);
    return k;
  }

 private:
  friend class Kernel;
  std::string name_;
  void* module_ = nullptr;
};

inline Function& Kernel::function() {
  Device& d = *world().device;
  if (!source_->module_) source_->module_ = d.load(source_->name_);
  if (!loaded_.entry) loaded_ = d.function(source_->module_, name_);
  return loaded_;
}

// operation is a kernel of symm_operations.cu.
inline Kernel& operation(const std::string& name, std::vector<std::string> params) {
  static Source source("symm_operations");
  static std::map<std::string, Kernel> kernels;
  const auto found = kernels.find(name);
  if (found != kernels.end()) return found->second;
  std::vector<std::string> all{"symm::Handle"};
  all.insert(all.end(), params.begin(), params.end());
  return kernels[name] = source.kernel(name, all);
}
inline Timeout limit(double seconds) { return {seconds < 0 ? world().timeout : seconds}; }

inline void Handle::barrier(long channel, double t) const { operation("barrier", {"unsigned"}).launch({1}, {128}, *this, channel, limit(t)); }
inline void Handle::put_signal(long dst, long channel, double t) const { operation("put_signal", {"int", "unsigned"}).launch({1}, {1}, *this, dst, channel, limit(t)); }
inline void Handle::wait_signal(long src, long channel, double t) const { operation("wait_signal", {"int", "unsigned"}).launch({1}, {1}, *this, src, channel, limit(t)); }
inline void Handle::put_with_signal(long dst, const Tensor& src, long signal, uint64_t value) const {
  operation("put_with_signal", {"int", "void*", "unsigned long long", "unsigned", "unsigned long long"}).launch({1}, {512}, *this, dst, src, src.bytes(), signal, value);
}
inline void Handle::signal_add(long dst, long signal, uint64_t n) const { operation("signal_add", {"int", "unsigned", "unsigned long long"}).launch({1}, {1}, *this, dst, signal, n); }
inline void Handle::wait_for_signal(long signal, const std::string& compare, uint64_t value, double t) const {
  operation("wait_for_signal", {"unsigned", "unsigned long long", "bool"}).launch({1}, {1}, *this, signal, value, compare == ">=", limit(t));
}

inline void check(bool right, const std::string& what) {
  World& w = world();
  w.checks++;
  if (right) return;
  w.wrong++;
  printf("[%d] WRONG: %s\n", w.place.rank, what.c_str());
  fflush(stdout);
}

// ---- Collectives, over the hosts' memory: to compare with.

// all_gather is the tensors of all ranks, one after the other.
inline Tensor all_gather(const Tensor& t) {
  const std::vector<char> mine = t.raw();
  std::vector<char> all(mine.size() * (size_t)world_size());
  world().peers.gather(mine.data(), mine.size(), all.data());
  std::vector<long> shape = t.shape;
  shape[0] *= world_size();
  Tensor out = local(t.dtype, shape);
  world().device->write(out.data(), all.data(), all.size());
  return out;
}

// all_reduce is the tensors of all ranks, combined element by element in the order of the ranks; every step rounds to the element type.
inline Tensor all_reduce(const Tensor& t, const std::string& op) {
  const std::vector<char> mine = t.raw();
  std::vector<char> all(mine.size() * (size_t)world_size());
  world().peers.gather(mine.data(), mine.size(), all.data());
  std::vector<char> out(all.begin(), all.begin() + (long)mine.size());
  const size_t step = size_of(t.dtype);
  for (size_t i = 0; i < mine.size(); i += step) {
    for (size_t p = 1; p < (size_t)world_size(); p++) {
      const double a = get(t.dtype, &out[i]), b = get(t.dtype, &all[p * mine.size() + i]);
      set(t.dtype, &out[i], op == "max" ? std::max(a, b) : op == "min" ? std::min(a, b) : a + b);
    }
    if (op == "avg") set(t.dtype, &out[i], get(t.dtype, &out[i]) / (double)world_size());
  }
  Tensor result = local(t.dtype, t.shape);
  world().device->write(result.data(), out.data(), out.size());
  return result;
}

// reduce_scatter is this rank's part of all_reduce; the first dimension is split.
inline Tensor reduce_scatter(const Tensor& t, const std::string& op) {
  const long part = t.shape[0] / world_size();
  return all_reduce(t, op).slice(rank() * part, (rank() + 1) * part);
}

// all_to_all is the parts of all ranks' tensors that are for this rank; the first dimension is split.
inline Tensor all_to_all(const Tensor& t) {
  const Tensor all = all_gather(t);
  const long part = t.shape[0] / world_size();
  const Tensor out = local(t.dtype, t.shape);
  for (long p = 0; p < world_size(); p++) out.slice(p * part, (p + 1) * part).fill_from(all.slice(p * t.shape[0] + rank() * part, p * t.shape[0] + (rank() + 1) * part));
  return out;
}

// broadcast gives every rank the root's values, in place.
inline const Tensor& broadcast(const Tensor& t, long root) { return t.fill_from(all_gather(t).slice(root * t.shape[0], (root + 1) * t.shape[0])); }

// check_handle compares what a kernel reads through a handle with what the sockets bring.
inline void check_handle(const Handle& h) {
  Tensor bytes = h.tensor;
  bytes.dtype = U8, bytes.shape = {h.tensor.bytes()};
  const std::vector<long> kept = bytes.values<long>();
  std::vector<long> pattern(kept.size());
  for (size_t i = 0; i < pattern.size(); i++) pattern[i] = (long)(i * 31 + 7 * (size_t)rank() + 1) & 255;
  bytes.fill_from(pattern);
  h.barrier(0);
  std::vector<Tensor> copies;
  for (long p = 0; p < world_size(); p++) {
    copies.push_back(local(U8, bytes.shape));
    operation("get", {"int", "void*", "unsigned long long"}).launch({1}, {256}, h, p, copies.back(), bytes.bytes());
  }
  h.barrier(0);
  const Tensor want = all_gather(bytes);
  for (long p = 0; p < world_size(); p++)
    check(copies[(size_t)p].raw() == want.slice(p * bytes.shape[0], (p + 1) * bytes.shape[0]).raw(), "a handle's copy of rank " + std::to_string(p));
  h.put_signal((rank() + 1) % world_size(), 1);
  h.wait_signal((rank() + world_size() - 1) % world_size(), 1);
  bytes.fill_from(kept);
  h.barrier(0);
  synchronize();
}

// rendezvous is the handle of a symmetric tensor, or of a part of one: the same on all ranks.
inline Handle rendezvous(const Tensor& t) {
  if (t.memory->everywhere.empty()) fail("rendezvous needs a tensor of symm::empty");
  Handle h;
  h.tensor = t;
  meet();  // what the tensor holds is complete before a peer may write to it
  if (world().testing) check_handle(h);
  return h;
}

// communicator and window are an ncclComm_t and the ncclWindow_t of a tensor of symm::empty, with SYMM_MEMORY=nccl.
inline Nccl& nccl() {
  auto* const n = dynamic_cast<Nccl*>(world().device.get());
  if (!n) fail("this needs NCCL's memory: SYMM_MEMORY=nccl");
  return *n;
}
inline void* communicator() { return nccl().communicator(); }
inline void* window(const Tensor& t) {
  if (t.memory->everywhere.empty()) fail("a window is of a tensor of symm::empty");
  return nccl().window(t.memory->data);
}

inline bool all_close(const Tensor& a, const Tensor& b) {
  const auto x = a.values<double>(), y = b.values<double>();
  for (size_t i = 0; i < x.size(); i++)
    if (!(std::fabs(x[i] - y[i]) <= 1e-6 + (a.dtype == F32 || a.dtype == F64 ? 1e-5 : 1e-2) * std::fabs(y[i]))) return false;
  return x.size() == y.size();
}

// ---- What Go has and C++ has not.

template <class T>
std::vector<T> part(const std::vector<T>& v, long lo, long hi) { return std::vector<T>(v.begin() + lo, v.begin() + hi); }
template <class T>
long len(const T& v) { return (long)v.size(); }
template <class T, class... More>
std::vector<T> append(std::vector<T> v, const More&... more) {
  (v.push_back((T)more), ...);
  return v;
}
template <class T>
std::vector<T> join(std::vector<T> v, const std::vector<T>& more) {
  v.insert(v.end(), more.begin(), more.end());
  return v;
}

// text is a value as text.
template <class T>
std::string text(const T& v) {
  std::ostringstream s;
  if constexpr (sizeof(T) == 1 && std::is_integral_v<T> && !std::is_same_v<T, bool>) s << (int)v;
  else s << std::boolalpha << v;
  return s.str();
}
inline std::string text(const Tensor& t);
template <class T>
std::string text(const std::vector<T>& v) {
  std::string s = "[";
  for (size_t i = 0; i < v.size(); i++) s += (i ? " " : "") + text(v[i]);
  return s + "]";
}
inline std::string text(const Tensor& t) { return text(t.values<double>()); }
inline std::string text(const Handle& h) { return "a handle of " + std::to_string(h.tensor.bytes()) + " bytes"; }

// println prints values with the number of the rank.
template <class... T>
void println(const T&... values) {
  std::string line = "[" + std::to_string(rank()) + "]";
  ((line += " " + text(values)), ...);
  puts(line.c_str());
  fflush(stdout);
}

// show prints the value of a cell's last expression. In a test a bool is a check.
template <class... T>
void show(const T&... values) {
  const auto look = [](const auto& v) {
    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, bool>)
      if (world().testing) check(v, "a cell ends with false");
  };
  (look(values), ...);
  println(values...);
}

// format is printf to a string.
template <class... T>
std::string format(const char* pattern, const T&... values) {
  const auto plain = [](const auto& v) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) return v;
    else return v.c_str();
  };
  char out[4096];
  snprintf(out, sizeof out, pattern, plain(values)...);
  return out;
}

// run runs the cells of a program. With --test it also counts what is right and wrong; the exit status is 1 if anything is wrong on any rank.
inline int run(int argc, char** argv, void (*cells)()) {
  World& w = world();
  for (int i = 1; i < argc; i++) w.testing = w.testing || std::string(argv[i]) == "--test";
  cells();
  meet();
  std::vector<int> wrong((size_t)w.place.size);
  w.peers.gather(&w.wrong, sizeof w.wrong, wrong.data());
  int all = 0;
  for (int n : wrong) all += n;
  if (w.testing && w.place.rank == 0) {
    if (all) printf("%d ranks: %d checks are WRONG\n", w.place.size, all);
    else printf("%d ranks: all %d checks of each rank are right\n", w.place.size, w.checks);
  }
  fflush(stdout);
  _exit(all ? 1 : 0);  // the device's threads end with the process
}

}  // namespace symm
