//go:build ignore

// Wrong answers to the exercises of 14-nccl-device-api. The README says how they are written.

// %% [wrong] An all-gather by puts
// says: both offsets are rank * bytes
@@
-    if (p != world.rank) gin.put(world, p, win, mine, win, mine, bytes, ncclGin_SignalInc{0});
+    if (p != world.rank) gin.put(world, p, win, p * bytes, win, mine, bytes, ncclGin_SignalInc{0});

// %% [wrong] An all-gather by puts
// says: a wait gave up: my signal grows by one for each other rank
@@
-  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - 1);
+  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks);

// %% [wrong] An all-gather by puts
// says on the cpu device: the kernel ends before the bytes of all ranks have arrived
@@
-  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - 1);
+  gin.waitSignal(ncclCoopCta(), 0, before + 1);

// %% [wrong] An all-gather by puts
// says on the cpu device: the kernel ends before the bytes of all ranks have arrived
@@
-  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - 1);

// %% [wrong] An all-gather by puts
// says: every rank puts to every other rank
allGather := symm.Compile(`
#include <nccl_device.h>
__global__ void all_gather(ncclDevComm comm, ncclWindow_t win, size_t bytes) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
}`)

// %% [wrong] An all-gather by puts
// says: a wait gave up
@@
-    if (p != world.rank) gin.put(world, p, win, mine, win, mine, bytes, ncclGin_SignalInc{0});
+    if (p != world.rank) gin.put(world, p, win, mine, win, mine, bytes);

// %% [wrong] An all-gather by puts
// says on the cpu device: the kernel ends before the bytes of all ranks have arrived
@@
-  unsigned long long before = gin.readSignal(0);
@@
-  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - 1);
+  gin.waitSignal(ncclCoopCta(), 0, world.nRanks - 1);

// %% [wrong] Predict: what a signal counts
// says: predict is still 0
predict := 0.0

// %% [wrong] Predict: what a signal counts
// says: 4 would be right for one launch
predict := 4.0

// %% [wrong] Predict: what a signal counts
// says: if a rank also put to itself
predict := 20.0

// %% [wrong] Predict: what a signal counts
// says: counts the puts to all ranks
predict := 80.0

// %% [wrong] Predict: what a signal counts
// says: count the puts to one rank
predict := 5.0

// %% [wrong] Repair: turn
// says on the cpu device: each step waits for one more signal
@@
-    gin.waitSignal(ncclCoopCta(), 0, before + step);
+    gin.waitSignal(ncclCoopCta(), 0, before + 1);

// %% [wrong] Repair: turn
// says on the cpu device: nobody puts into an inbox that has not been copied
@@
-    bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);

// %% [wrong] Repair: turn
// says on the cpu device: nobody puts into an inbox that has not been copied
@@
-    bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
+    __syncthreads();  // of one rank

// %% [wrong] Repair: turn
// says on the cpu device: nobody puts into an inbox that has not been copied
turn := symm.Compile(`
#include <nccl_device.h>
__global__ void turn(ncclDevComm comm, ncclWindow_t win, size_t half, int steps) {
  ncclGin gin{comm, 0};
  ncclTeam world = ncclTeamWorld(comm);
  int* mine = (int*)ncclGetLocalPointer(win, 0);
  const int n = half / sizeof(int), right = (world.rank + 1) % world.nRanks;
  unsigned long long before = gin.readSignal(0);
  ncclGinBarrierSession<ncclCoopCta> bar{ncclCoopCta(), gin, ncclTeamTagWorld(), 0};
  bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  for (int step = 1; step <= steps; step++) {
    if (threadIdx.x == 0) gin.put(world, right, win, half, win, 0, half, ncclGin_SignalInc{0});
    gin.waitSignal(ncclCoopCta(), 0, before + step);
    gin.flush(ncclCoopCta());                       // the first half may be overwritten
    bar.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::None);
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = mine[n + i];
  }
}`)

// %% [wrong] Repair: turn
// says: a wait gave up: in step s the signal has grown by s
@@
-    gin.waitSignal(ncclCoopCta(), 0, before + step);
+    gin.waitSignal(ncclCoopCta(), 0, before + steps);

// %% [wrong] Repair: turn
// says: a wait gave up: in step s the signal has grown by s
@@
-    gin.waitSignal(ncclCoopCta(), 0, before + step);
+    gin.waitSignal(ncclCoopCta(), 0, before + step * (world.nRanks - 1));

// %% [wrong] Repair: turn
// says: one step goes wrong
@@
-    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = mine[n + i];

// %% [wrong] Repair: turn
// says: one step goes wrong
@@
-    if (threadIdx.x == 0) gin.put(world, right, win, half, win, 0, half, ncclGin_SignalInc{0});
+    if (threadIdx.x == 0) gin.put(world, right, win, 0, win, 0, half, ncclGin_SignalInc{0});

// %% [wrong] Repair: turn
// says: it is right on 4 ranks, but not on a team of 1
@@
-  const int n = half / sizeof(int), right = (world.rank + 1) % world.nRanks;
+  const int n = half / sizeof(int), right = (world.rank + 1) & 3;

// %% [wrong] An all-gather by puts
// says: it is right on 4 ranks, but not on a team of 1
@@
-  for (int p = threadIdx.x; p < world.nRanks; p += blockDim.x)
+  for (int p = threadIdx.x; p < 4; p += blockDim.x)
@@
-  gin.waitSignal(ncclCoopCta(), 0, before + world.nRanks - 1);
+  gin.waitSignal(ncclCoopCta(), 0, before + 3);
