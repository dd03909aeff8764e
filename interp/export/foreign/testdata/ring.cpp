// A session of symmrepl as a program of C++: each rank runs a process of it.
//
//	g++ -std=c++17 -O2 -o session main.cpp -ldl
//	torchrun --nproc-per-node 4 --no-python ./session --test
//
// builds and runs it. mpirun -np 4, srun and RANK and WORLD_SIZE by hand will do for torchrun; the ranks are on one host. --test also compares
// what it does with what the ranks exchange by their sockets; the exit status is 1 if anything is wrong. "make emulated" and SYMM_DEVICE=cpu
// run it without a GPU.
#include "symm_host.hpp"

// Cell 2.
static symm::Source source2("cell2");
static symm::Kernel ring = source2.kernel("ring", {"symm::Handle", "int", "unsigned long long"});

static void cells() {
    // Cell 1.
    long rank = symm::rank();
    long size = symm::world_size();
    long right = (rank + 1) % size;
    long left = (rank + size - 1) % size;
    long n = 1000;  // elements of a piece
    symm::Tensor all = symm::empty(symm::I32, {size, n});
    symm::Handle h = symm::rendezvous(all);
    symm::Tensor mine = all.slice(rank, rank + 1);
    mine.arange();
    for (long i = 0; i < n; i += 100) {
        mine.view({n}).slice(i, i + 100).fill(1000 * rank + i);
    }
    symm::meet();

    // Cell 2.
    h.barrier(0);
    ring.launch({1}, {256}, h, n, (uint64_t)1);
    h.barrier(0);
    std::vector<long> got = all.values<long>();
    symm::show(got[0], got[symm::len(got) - 1]);
    symm::meet();

    // Cell 3.
    symm::Tensor piece = symm::empty(symm::I32, {n}).fill_from(symm::part(got, rank * n, rank * n + n));
    symm::rendezvous(piece);
    symm::show(got == symm::all_gather(piece).values<long>());
    symm::meet();

    // Cell 4.
    symm::Tensor message = symm::local(symm::I32, {n}).fill(-1 - rank);
    h.put_with_signal(right, message, 100, 7);
    h.wait_for_signal(100, "==", 7);
    got = all.values<long>();
    symm::show(got[0] == -1 - left);
}

int main(int argc, char** argv) { return symm::run(argc, argv, cells); }
