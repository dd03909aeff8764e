// Package places groups the ranks of a world by host, by the memory that they map, and by device.
// The places are found out from the reports of all ranks' devices, once when a world is built and
// again when ranks were lost, and do not change in between.
//
// A rank loads from and stores to the memory of the ranks of its part of the world: those of its
// host, or the ranks of its host whose devices can map each other's memory. GPUs on one NVLink
// fabric map each other's memory also between hosts: their ranks are one part, unless hosts are
// simulated. Several ranks of a host may use one device; it is then within their own reach.
package places
