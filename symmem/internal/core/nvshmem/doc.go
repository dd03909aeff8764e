// Package nvshmem supports kernels that use NVSHMEM's names, and the back end NVSHMEM.
//
// For kernels that include nvshmem.h it keeps the table by which the header's functions find
// symmetric tensors ([Table]), and explains calls that these functions refuse ([Refused]).
//
// For the back end NVSHMEM it has the heap of the library ([Heap]), a part of the world and a carrier
// of calls, the environment that the library needs ([Environment]), and a watch over the streams that
// wait by the library: only the awaited word ends such a wait ([Watch]).
package nvshmem
