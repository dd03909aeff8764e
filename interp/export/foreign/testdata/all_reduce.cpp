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
static symm::Kernel sum = source2.kernel("sum", {"symm::Handle", "float*", "int"});

static void cells() {
    // Cell 1.
    long rank = symm::rank();
    long size = symm::world_size();
    long n = 100;
    symm::Tensor x = symm::empty(symm::F32, {n}).fill(rank - 10);
    symm::Handle h = symm::rendezvous(x);
    symm::Tensor out = symm::local(symm::F32, {n});
    symm::meet();

    // Cell 2.
    sum.launch({1}, {32}, h, out, n);
    std::vector<float> total = out.values<float>();
    symm::println(total[0], total[n - 1]);
    symm::meet();

    // Cell 3.
    std::vector<float> want = symm::all_reduce(x, "sum").values<float>();
    double largest = 0.0;
    for (long i = 0; i < symm::len(want); i++) {
        largest = std::max<double>({largest, std::fabs((double)(total[i] - want[i]))});
    }
    symm::println("the largest difference is", largest);
    symm::show(largest == 0.0);
    symm::meet();

    // Cell 4.
    bool right = true;
    for (long round = 0; round < 3; round++) {
        for (long i = 0; i < 10; i++) {
            x.slice(10 * i, 10 * i + 10).fill((7 * i + 13 * rank + round) % 200);
        }
        sum.launch({1}, {128}, h, out, n, symm::Timeout{10});
        if (!(out.values<float>() == symm::all_reduce(x, "sum").values<float>())) {
            right = false;
        }
    }
    symm::show(right && size > 0);
}

int main(int argc, char** argv) { return symm::run(argc, argv, cells); }
