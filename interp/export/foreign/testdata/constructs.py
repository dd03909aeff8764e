"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node 4 constructs.py           runs the cells, one process for each rank
    torchrun --nproc-per-node 4 constructs.py --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from constructs import ..." after symm_torch.start().
"""

import math

import symm_torch as symm


def run():
    # Cell 1.
    total, name = 0, "sum"
    for i in range(5):
        if i == 1:
            continue
        total += i * i
    i = 10
    while i > 0:
        total -= i
        i -= 3
    while total < 100:
        total = 3 * total + 40
    symm.println(name, total)
    symm.meet()

    # Cell 2.
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    def divided(a, b):
        quotient = 0
        rest = 0
        quotient = symm.quotient(a, b)
        rest = symm.remainder(a, b)
        return quotient, rest

    count = 0

    def bump(by):
        nonlocal count
        count += by

    bump(2)
    bump(3)
    q, r = divided(-7, 2)
    symm.println(fib(15), q, r, count)
    symm.meet()

    # Cell 3.
    squares = []
    for i in range(1, 6 + 1):
        squares.append(i * i)
    tail = squares[4:]
    tail.extend(squares[:2])
    table = [0.0] * 3
    table[1] = 1.5
    words = ["a", "bc"]
    longest = ""
    for i, w in enumerate(words):
        if len(w.encode()) > len(longest.encode()) or i < 0:
            longest = w
    symm.println(len(tail), tail[0], tail[3], table[1], longest, min(3, 1, 2))
    symm.meet()

    # Cell 4.
    def grade(n):
        if n >= 9 or n == 7:
            return "high"
        elif n > 3:
            return "middle"
        else:
            return "low"

    kind = 2
    if kind == 1:
        kind = 10
    elif kind == 2 or kind == 3:
        kind = 20
    symm.println("%s %s %s %d %.2f %5d|" % (grade(7), grade(5), grade(1), kind, 2.0 / 3.0, 42))
    symm.meet()

    # Cell 5.
    hash = 2166136261
    for b in [104, 105]:
        hash = (hash ^ b) * 16777619 & 0xffffffff
    small = 250
    small = small + 10 & 0xff
    wide = (1 << 63) + 5
    x, y = 3, 4
    x, y = y, x
    symm.println(hash, small, wide, x - y, -7 >> 1, 7 & ~2 | 8 == 13, math.sqrt(16.0) == 4.0)
    symm.meet()

    # Cell 6.
    def total2(total):
        nonlocal count
        for total3 in range(2):
            count += total3
        return total + count

    list_, sum_ = [3, 1, 2], 0
    n = len(list_)
    if n > 2:
        sum_ = n
    n = len(list_) + 1
    if n > 2:
        sum_ += n
    symm.println(total2(5), sum_, max(list_), list_ == [3, 1, 2])
    symm.meet()

    # Cell 7, on ranks 0,1.
    if symm.rank() in [0, 1]:
        # Some ranks only.
        some = 7
        symm.println("some", some + count)
    symm.meet()

    # Cell 8, on ranks 3.
    if symm.rank() in [3]:
        symm.println("never")
    symm.meet()

    # Cell 9.
    limit = 1 << 40
    shifted = 1 << len(list_)
    symm.println(limit, shifted, limit // shifted)


if __name__ == "__main__":
    symm.main(run)
