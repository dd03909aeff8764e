# Compares the results of operations on tensors with numpy's: see TestNumpy. The argument is the folder of the results. Prints a line for each
# operation and type, "Exp f32 2": by how many units in the last place results differ. Fails for more than ALLOWED, with what differs on stderr.
import glob, math, os, sys
import numpy as np, ml_dtypes

np.seterr(all="ignore")
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
         "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
         "i16": np.int16, "u16": np.uint16}
SMALL = ("f16", "bf16", "f8e4m3", "f8e5m2")
FLOATS = SMALL + ("f32", "f64")
# The most units in the last place by which a result may differ where numpy's rounding is not defined.
ALLOWED = {"Exp": 2, "Log": 2, "Pow": 2, "Sum": 1, "Mean": 1, "Norm": 1, "Dot": 1}
folder = sys.argv[1]


def read(name, t):
    return np.fromfile(os.path.join(folder, name), np.uint8).view(TYPES[t])


def wide(a, t):
    return a.astype(np.float32) if t in SMALL else a


def truncated(a, b):  # the quotient of two integers towards zero, and the remainder
    q = [0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)]
    return q, [0 if y == 0 else x - y * k for x, y, k in zip(a, b, q)]


def wrapped(values, t):
    bits = 8 * np.dtype(TYPES[t]).itemsize
    return np.array([v & ((1 << bits) - 1) for v in values], "u%d" % (bits // 8)).view(TYPES[t])


def converted(x, t, to):
    if to in FLOATS:
        if t in FLOATS:
            # numpy and ml_dtypes round once from every type they convert directly
            return x.astype(np.float32).astype(TYPES[to]) if t in SMALL else once(x, to)
        return once(x.astype(np.float64), to)
    if t not in FLOATS:
        return x.astype(TYPES[to])
    i = np.iinfo(TYPES[to])
    return np.array([0 if math.isnan(v) else i.max if v >= i.max else i.min if v <= i.min else int(v) for v in x.astype(np.float64).tolist()], TYPES[to])


def once(x, to):  # rounds to nearest, ties to even, once
    if to in ("f16", "f32", "f64") or x.dtype == np.float32:
        return x.astype(TYPES[to])
    f = x.astype(np.float32)  # rounded to odd, for a second rounding
    inexact = np.isfinite(x) & (f.astype(np.float64) != x) & (f.view(np.uint32) & 1 == 0)
    over = np.abs(f.astype(np.float64)) > np.abs(x)
    bits = f.view(np.uint32)
    return np.where(inexact, np.where(over, bits - 1, bits + 1), bits).astype(np.uint32).view(np.float32).astype(TYPES[to])


def expected(op, t, to):
    x, y = read("X-" + t, t), read("Y-" + t, t)
    a, b = wide(x, t), wide(y, t)
    real = t in FLOATS
    f = a if real else a.astype(np.float32 if np.dtype(TYPES[t]).itemsize == 1 else np.float64)
    magnitude = np.abs(a)
    rounded = lambda v: v.astype(TYPES[to])
    if op in ("Add", "Sub", "Mul"):
        return rounded({"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[op](a, b))
    if op == "Div":
        return rounded(a / b) if real else wrapped(truncated(x.tolist(), y.tolist())[0], t)
    if op == "Mod":
        return rounded(np.fmod(a, b)) if real else wrapped(truncated(x.tolist(), y.tolist())[1], t)
    if op == "Pow":
        return rounded(np.power(magnitude, a.dtype.type(2)))
    if op in ("Minimum", "Maximum"):
        return rounded(getattr(np, op.lower())(a, b))
    if op in ("Eq", "Ne", "Lt", "Le", "Gt", "Ge"):
        return {"Eq": a == b, "Ne": a != b, "Lt": a < b, "Le": a <= b, "Gt": a > b, "Ge": a >= 1}[op].astype(np.uint8)
    if op == "Where":
        return rounded(np.where(a != 0, b, a.dtype.type(1)))
    if op == "Neg":
        return rounded(-a)
    if op == "Abs":
        return rounded(magnitude)
    if op == "Exp":
        return rounded(np.exp(f))
    if op in ("Log", "Sqrt"):
        return rounded(getattr(np, op.lower())(np.abs(f)if real else np.abs(a).astype(f.dtype)))
    if op in ("Min", "Max"):
        return rounded(np.array([getattr(np, op.lower())(a)]))
    if op in ("ArgMin", "ArgMax"):
        return np.array([getattr(np, op.lower())(a)])
    if op in ("Equal", "AllClose", "MaxDiff"):
        return compared(op, a.astype(np.float64), b.astype(np.float64))
    part = [float(v) if real else int(v) for v in a[1:4].tolist()]
    if op == "Sum":
        return once(np.array([math.fsum(part)]), to) if real else np.array([sum(part)]).astype(TYPES[to])
    if op == "Mean":
        return once(np.array([math.fsum(part) / 3]), to)
    if op == "Norm":
        return once(np.array([math.sqrt(math.fsum(v * v for v in part))]), to)
    if op == "Dot":
        other = [float(v) if real else int(v) for v in b[1:4].tolist()]
        total = math.fsum(v * w for v, w in zip(part, other)) if real else sum(v * w for v, w in zip(part, other))
        return once(np.array([total]), to) if real else np.array([total])
    return converted(x, t, to)


def compared(op, a, b):  # whole tensors with themselves, with the other one and with a number, and parts of them: see comparisons
    parts = [slice(k, k + 3) for k in range(1, 400, 4)]
    pairs = [(a, a), (a, b), (b, 1.0)] + [(a[p], a[p]) for p in parts] + [(a[p], b[p]) for p in parts]
    one = {"Equal": lambda u, v: np.array_equal(u, v) if isinstance(v, np.ndarray) else bool((u == v).all()),
           "AllClose": lambda u, v: np.allclose(u, v, 0.5, 2), "MaxDiff": lambda u, v: np.max(np.abs(u - v))}[op]
    return np.array([one(u, v) for u, v in pairs], np.float64 if op == "MaxDiff" else np.uint8)


def ulps(got, want):  # how many values lie between
    size = got.dtype.itemsize
    def ordered(a):
        u = a.view("u%d" % size).astype(object)
        top = 1 << (8 * size - 1)
        return np.where((u & top) != 0, -(u & (top - 1)), u)
    isnan = lambda a: np.isnan(a.astype(np.float64))
    g, w = ordered(got), ordered(want)
    both = isnan(got) & isnan(want)
    if (isnan(got) != isnan(want)).any():
        return math.inf
    return max(np.where(both, 0, np.abs(g - w)).tolist())


failed = False
for path in sorted(glob.glob(os.path.join(folder, "*-*-*"))):
    op, t, to = os.path.basename(path).split("-")
    got, want = read(os.path.basename(path), to), expected(op, t, to)
    assert got.dtype == want.dtype and got.shape == want.shape, (op, t, to, got.dtype, want.dtype, got.shape, want.shape)
    if to in FLOATS:
        off = ulps(got, want)
    else:
        off = int((got != want).sum()) and math.inf
    print("%s %s %s" % (op if op != "Convert" else "Convert to " + to, t, off))
    if off > (ALLOWED.get(op, 0) if to in FLOATS else 0):
        failed = True
        i = next(i for i in range(len(got)) if got[i] != want[i] and not (got[i] != got[i] and want[i] != want[i]))
        print("%s of %s differs by %s: result %d is %s and not %s, of %s and %s"
              % (op, t, off, i, got[i], want[i], read("X-" + t, t)[i], read("Y-" + t, t)[i]), file=sys.stderr)
sys.exit(failed)
