// A session of symmrepl as a program of C++: each rank runs a process of it.
//
//	g++ -std=c++17 -O2 -o session main.cpp -ldl
//	torchrun --nproc-per-node 4 --no-python ./session --test
//
// builds and runs it. mpirun -np 4, srun and RANK and WORLD_SIZE by hand will do for torchrun; the ranks are on one host. --test also compares
// what it does with what the ranks exchange by their sockets; the exit status is 1 if anything is wrong. "make emulated" and SYMM_DEVICE=cpu
// run it without a GPU.
#include "symm_host.hpp"

static void cells() {
    // Cell 1.
    long total = 0;
    std::string name = "sum";
    for (long i = 0; i < 5; i++) {
        if (i == 1) {
            continue;
        }
        total += i * i;
    }
    for (long i = 10; i > 0; i -= 3) {
        total -= i;
    }
    for (; total < 100; ) {
        total = 3 * total + 40;
    }
    symm::println(name, total);
    symm::meet();

    // Cell 2.
    std::function<long(long)> fib = [&](long n) -> long {
        if (n < 2) {
            return n;
        }
        return fib(n - 1) + fib(n - 2);
    };
    std::function<std::tuple<long, long>(long, long)> divided = [&](long a, long b) -> std::tuple<long, long> {
        long quotient{};
        long rest{};
        quotient = a / b;
        rest = a % b;
        return {quotient, rest};
    };
    long count = 0;
    std::function<void(long)> bump = [&](long by) -> void {
        count += by;
    };
    bump(2);
    bump(3);
    long q{};
    long r{};
    std::tie(q, r) = divided(-7, 2);
    symm::println(fib(15), q, r, count);
    symm::meet();

    // Cell 3.
    std::vector<long> squares = std::vector<long>{};
    for (long i = 1; i <= 6; i++) {
        squares.push_back(i * i);
    }
    std::vector<long> tail = symm::part(squares, 4, symm::len(squares));
    tail = symm::join(tail, symm::part(squares, 0, 2));
    std::vector<double> table = std::vector<double>(3);
    table[1] = 1.5;
    std::vector<std::string> words = std::vector<std::string>{"a", "bc"};
    std::string longest = "";
    for (long i = 0; i < symm::len(words); i++) {
        const std::string w = words[i];
        if (symm::len(w) > symm::len(longest) || i < 0) {
            longest = w;
        }
    }
    symm::println(symm::len(tail), tail[0], tail[3], table[1], longest, std::min<long>({3, 1, 2}));
    symm::meet();

    // Cell 4.
    std::function<std::string(long)> grade = [&](long n) -> std::string {
        if (n >= 9 || n == 7) {
            return "high";
        } else if (n > 3) {
            return "middle";
        } else {
            return "low";
        }
    };
    long kind = 2;
    if (kind == 1) {
        kind = 10;
    } else if (kind == 2 || kind == 3) {
        kind = 20;
    }
    symm::println(symm::format("%s %s %s %ld %.2f %5ld|", symm::text(grade(7)), symm::text(grade(5)), symm::text(grade(1)), (long)kind, (double)(2.0 / 3.0), (long)42));
    symm::meet();

    // Cell 5.
    uint32_t hash = 2166136261l;
    for (const uint32_t& b : std::vector<uint32_t>{104, 105}) {
        hash = (hash ^ b) * 16777619;
    }
    uint8_t small = (uint8_t)250;
    small += 10;
    uint64_t wide = 9223372036854775813ul;
    long x = 3;
    long y = 4;
    std::tie(x, y) = std::make_tuple(y, x);
    symm::println(hash, small, wide, x - y, -7 >> 1, ((7 & ~2) | 8) == 13, std::sqrt(16.0) == 4.0);
    symm::meet();

    // Cell 6.
    std::function<long(long)> total2 = [&](long total) -> long {
        for (long total3 = 0; total3 < 2; total3++) {
            count += total3;
        }
        return total + count;
    };
    std::vector<long> list = std::vector<long>{3, 1, 2};
    long sum = 0;
    if (long n = symm::len(list); n > 2) {
        sum = n;
    }
    if (long n = symm::len(list) + 1; n > 2) {
        sum += n;
    }
    symm::println(total2(5), sum, *std::max_element(list.begin(), list.end()), list == std::vector<long>{3, 1, 2});
    symm::meet();

    // Cell 7, on ranks 0,1.
    long some{};
    if (symm::rank() == 0 || symm::rank() == 1) {
        // Some ranks only.
        some = 7;
        symm::println("some", some + count);
    }
    symm::meet();

    // Cell 8, on ranks 3.
    if (symm::rank() == 3) {
        symm::println("never");
    }
    symm::meet();

    // Cell 9.
    const long limit = 1099511627776l;
    long shifted = (long)1 << symm::len(list);
    symm::println(limit, shifted, limit / shifted);
}

int main(int argc, char** argv) { return symm::run(argc, argv, cells); }
