// symm: test value
// x f32[10] = i
// scale<float><<<1, 32>>>(x, 2.0f, 10)
// expect x == 3 * i
template <class T> __global__ void scale(T* x, T by, int n) {
  if (threadIdx.x < n) x[threadIdx.x] *= by;
}

// symm: test argument
// x f32[10]
// scale<float><<<1, 32>>>(x, x, 10)

// symm: test bounds
// x f32[10]
// scale<float><<<1, 32>>>(x, 2.f, 11)

// symm: test undefined
// scale<float><<<1, 32>>>(y, 2.f, 11)

// symm: test formula
// x f32[10] = nothing(i)
// expect x == 0

// symm: test no_race
// x f32[10]
// scale<float><<<1, 32>>>(x, 2.f, 10)
// expect finding race

// symm: test endless
// go for { }

// symm: test killed
// go syscall.Kill(os.Getpid(), syscall.SIGKILL)

// symm: test prints
// go fmt.Println("rank", rank)
// go panic("on purpose")

// symm: test right
// x f32[10] = i
// scale<float><<<1, 32>>>(x, 2.f, 10)
// expect x == 2 * i

// symm: test size
// x symmetric f32[1]
// pair<<<1, 1>>>(table(x, 3))
struct Pair {
  float* of[2];
};
extern "C" __global__ void pair(Pair) {}
