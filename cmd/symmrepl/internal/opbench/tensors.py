# Measures calculations with tensors by CuPy and PyTorch on one GPU: python3 tensors.py DTYPE ELEMENTS ROWS CALLS REPEATS. It prints a line
# of JSON a figure, like the session: microseconds a call, the median over repeats of calls in a row.
import json, statistics, sys

dtype, n, rows, calls, repeats = sys.argv[1], *map(int, sys.argv[2:])


def report(**figure):
    print(json.dumps(figure), flush=True)


def run(by, timed, operations):
    for op, moved, f in operations:
        try:
            for _ in range(3):
                f()
            report(op=op, by=by, bytes=moved, eager_us=statistics.median(timed(f) for _ in range(repeats)))
        except Exception as e:
            report(op=op, by=by, bytes=moved, error=str(e).splitlines()[0] if str(e) else type(e).__name__)


def torch_operations():
    import torch
    t = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64}[dtype]
    def make(*shape):
        r = torch.rand(*shape, device="cuda", dtype=torch.float32)
        return r.to(t) if t.is_floating_point else (r * 128).to(t)
    x, y, z, out = make(n), make(n), make(n), make(n)
    square, square_out, row, column = x.view(rows, -1), out.view(rows, -1), make(n // rows), make(rows, 1)
    turned, wide, halves = out.view(-1, rows), out.view(rows // 2, -1), (square[:rows // 2], square[rows // 2:])
    mask, narrow, size = x > y, torch.empty(n, device="cuda", dtype=torch.bfloat16), x.nbytes
    def timed(f):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        for _ in range(calls):
            f()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) * 1e3 / calls
    operations = [
        ("copy", 2 * size, lambda: out.copy_(x)), ("x * 2", 2 * size, lambda: torch.mul(x, 2, out=out)), ("x + y", 3 * size, lambda: torch.add(x, y, out=out)),
        ("x*y + z", 4 * size, lambda: torch.addcmul(z, x, y, out=out)), ("x + row", 2 * size, lambda: torch.add(square, row, out=square_out)),
        ("x + column", 2 * size, lambda: torch.add(square, column, out=square_out)), ("x > y", 2 * size + n, lambda: torch.gt(x, y, out=mask)),
        ("where", 3 * size + n, lambda: torch.where(mask, x, y, out=out)), ("to bf16", size + 2 * n, lambda: narrow.copy_(x)),
        ("sum", size, lambda: torch.sum(x)), ("max", size, lambda: torch.max(x)), ("argmax", size, lambda: torch.argmax(x)),
        ("sum of rows", size, lambda: torch.sum(square, 1)), ("sum of columns", size, lambda: torch.sum(square, 0)), ("transpose", 2 * size, lambda: turned.copy_(square.t())),
        ("concatenate rows", 2 * size, lambda: torch.cat(halves, 0, out=square_out)), ("concatenate columns", 2 * size, lambda: torch.cat(halves, 1, out=wide))]
    if t.is_floating_point:
        operations += [("sqrt", 2 * size, lambda: torch.sqrt(x, out=out)), ("exp", 2 * size, lambda: torch.exp(x, out=out)), ("norm", size, lambda: torch.linalg.vector_norm(x))]
    return timed, operations


def cupy_operations():
    import cupy as cp
    t = {"f16": cp.float16, "f32": cp.float32, "f64": cp.float64, "i32": cp.int32, "i64": cp.int64}[dtype]
    def make(*shape):
        r = cp.random.random(shape, cp.float32)
        return (r if cp.issubdtype(t, cp.floating) else r * 128).astype(t)
    x, y, z, out = make(n), make(n), make(n), make(n)
    square, square_out, row, column = x.reshape(rows, -1), out.reshape(rows, -1), make(n // rows), make(rows, 1)
    turned, wide, halves = out.reshape(-1, rows), out.reshape(rows // 2, -1), (square[:rows // 2], square[rows // 2:])
    mask, size = x > y, x.nbytes
    fused = cp.ElementwiseKernel("T x, T y, T z", "T o", "o = x * y + z", "fused")
    choose = cp.ElementwiseKernel("bool m, T x, T y", "T o", "o = m ? x : y", "choose")
    def timed(f):
        a, b = cp.cuda.Event(), cp.cuda.Event()
        a.record()
        for _ in range(calls):
            f()
        b.record()
        b.synchronize()
        return cp.cuda.get_elapsed_time(a, b) * 1e3 / calls
    operations = [
        ("copy", 2 * size, lambda: cp.copyto(out, x)), ("x * 2", 2 * size, lambda: cp.multiply(x, t(2), out=out)), ("x + y", 3 * size, lambda: cp.add(x, y, out=out)),
        ("x*y + z", 4 * size, lambda: fused(x, y, z, out)), ("x + row", 2 * size, lambda: cp.add(square, row, out=square_out)),
        ("x + column", 2 * size, lambda: cp.add(square, column, out=square_out)), ("x > y", 2 * size + n, lambda: cp.greater(x, y, out=mask)),
        ("where", 3 * size + n, lambda: choose(mask, x, y, out)),
        ("sum", size, lambda: cp.sum(x)), ("max", size, lambda: cp.max(x)), ("argmax", size, lambda: cp.argmax(x)),
        ("sum of rows", size, lambda: cp.sum(square, 1)), ("sum of columns", size, lambda: cp.sum(square, 0)), ("transpose", 2 * size, lambda: cp.copyto(turned, square.T)),
        ("concatenate rows", 2 * size, lambda: cp.concatenate(halves, 0, out=square_out)), ("concatenate columns", 2 * size, lambda: cp.concatenate(halves, 1, out=wide))]
    if cp.issubdtype(t, cp.floating):
        operations += [("sqrt", 2 * size, lambda: cp.sqrt(x, out=out)), ("exp", 2 * size, lambda: cp.exp(x, out=out)), ("norm", size, lambda: cp.linalg.norm(x))]
    return timed, operations


for by, make in ("CuPy", cupy_operations), ("PyTorch", torch_operations):
    try:
        timed, operations = make()
    except KeyError as e:
        report(by=by, error="it has no %s" % e)
        continue
    except Exception as e:
        report(by=by, error=str(e).splitlines()[0] if str(e) else type(e).__name__)
        continue
    run(by, timed, operations)
    del operations
