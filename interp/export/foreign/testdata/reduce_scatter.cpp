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
static symm::Kernel reduce_scatter = source2.kernel("reduce_scatter<4>", {"symm::Handle", "__nv_bfloat16*", "unsigned"});

static void cells() {
    // Cell 1.
    const long part = 4096;
    long rank = symm::rank();
    long size = symm::world_size();
    symm::Tensor x = symm::empty(symm::BF16, {size * part}).rand(42 + rank);
    symm::Handle h = symm::rendezvous(x);
    symm::Tensor out = symm::local(symm::BF16, {part});
    symm::meet();

    // Cell 2.
    const long blocks = 8;
    const long threads = 256;
    reduce_scatter.launch({blocks}, {threads}, h, out, (uint32_t)4096);
    std::vector<float> ours = out.values<float>();
    symm::meet();

    // Cell 3.
    std::function<double(std::vector<float>, std::vector<float>)> differs = [&](std::vector<float> a, std::vector<float> b) -> double {
        double largest{};
        for (long i = 0; i < symm::len(a); i++) {
            largest = std::max<double>(largest, std::fabs((double)(a[i] - b[i])));
        }
        return largest;
    };
    std::vector<float> theirs = symm::reduce_scatter(x, "sum").values<float>();
    double worst = 0.0;
    for (long i = 0; i < symm::len(ours); i++) {
        worst = std::max<double>({worst, std::fabs((double)(ours[i] - theirs[i])) / (double)size});
    }
    symm::show(worst <= 1.0 / 64.0);
    symm::meet();

    // Cell 4.
    // Not carried over, because there is no rand.Perm in C++:
    //     shuffled := rand.Perm(4)
    // Not carried over, because C++ has no goroutine as Go has:
    //     go func() { _ = shuffled }()
    // Not carried over, because shuffled of cell 4 is not carried over:
    //     len(shuffled)
}

int main(int argc, char** argv) { return symm::run(argc, argv, cells); }
