// A session of symmrepl as a program of C++: each rank runs a process of it.
//
//	g++ -std=c++17 -O2 -o session main.cpp -ldl
//	torchrun --nproc-per-node 4 --no-python ./session --test
//
// builds and runs it. mpirun -np 4, srun and RANK and WORLD_SIZE by hand will do for torchrun; the ranks are on one host. --test also compares
// what it does with what the ranks exchange by their sockets; the exit status is 1 if anything is wrong. "make emulated" and SYMM_DEVICE=cpu
// run it without a GPU.
#include "symm_host.hpp"

// A kernel includes mine.cuh, which is a file of yours: put it into symm_include.

// Cell 2.
// one_shot is a kernel of nccl_device.h: it takes NCCL's own device communicator (ncclDevComm) and windows (ncclWindow_t) by value, which
// the driver's memory does not make. Its text is here; a program launches it so:
//
//   1. With NCCL 2.29.7 or later, compile the text with NCCL's own nccl_device.h, of the version that is loaded at run time: the layout
//      of ncclDevComm changes between versions. pip's nvidia-nccl-cu13 has it in nvidia/nccl/include.
//   2. Run the program with SYMM_MEMORY=nccl: symm::communicator() is the ncclComm_t.
//   3. The tensors of symm::empty are windows then: symm::window(x) is the ncclWindow_t of x's memory.
//   4. ncclDevCommRequirements reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER; reqs.lsaBarrierCount = the number of blocks; and
//      ncclDevCommCreate(comm, &reqs, &devComm), on all ranks.
//   5. Launch by cuLaunchKernel with pointers to devComm and the window as kernelParams: both are copied.
[[maybe_unused]] static const char* const source2 = R"cuda(
#include <nccl_device.h>
__global__ void one_shot(ncclDevComm comm, ncclWindow_t win, float* out, int n) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = ((float*)ncclGetLsaPointer(win, 0, 0))[i];
})cuda";

// Cell 3.
static symm::Source source3("cell3");
static symm::Kernel shared = source3.kernel("shared", {"half*"});

static void cells() {
    // Cell 1.
    long rank = symm::rank();
    symm::Tensor x = symm::empty(symm::F32, {64}).fill(rank + 1);
    // Not carried over, because symm_host.hpp has no symm.Window:
    //     w := symm.Window(x)
    // Not carried over, because symm_host.hpp has no symm.DevComm:
    //     comm := symm.DevComm(symm.DevReqs{LsaBarriers: 4})
    symm::meet();

    // Cell 2.
    // Not carried over, because one_shot needs NCCL's own device communicator: see source2:
    //     oneShot := symm.Compile(`
    //     #include <nccl_device.h>
    //     __global__ void one_shot(ncclDevComm comm, ncclWindow_t win, float* out, int n) {
    //       ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
    //       bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
    //       for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = ((float*)ncclGetLsaPointer(win, 0, 0))[i];
    //     }`)
    symm::Tensor out = symm::local(symm::F32, {64});
    // Not carried over, because symm_host.hpp has no such option as comm:
    //     oneShot.Launch(symm.Grid(1), symm.Block(64), comm, w, out, 64)
    symm::show(out.values<float>()[0]);
    symm::meet();

    // Cell 3.
    // Not carried over, because types are not carried over:
    //     type point struct{ x, y int }
    // Not carried over, because structs are not carried over:
    //     p := point{1, 2}
    // Not carried over, because only variables and their elements are assigned to:
    //     p.x = 3
    long total = rank;
    // Not carried over, because there is no p.x in C++:
    //     total += p.x
    shared.launch({1}, {32}, symm::local(symm::F16, {32}), symm::Shared{64});
    // Not carried over, because total of cell 3 is not carried over:
    //     total
}

int main(int argc, char** argv) { return symm::run(argc, argv, cells); }
