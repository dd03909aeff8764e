// Package ras asks NCCL for the state of its communicators.
//
// RAS is a part of NCCL, on unless NCCL_RAS_ENABLE=0: a thread of each process, connected with the
// threads of all processes that share communicators. One thread of a host answers on a port. [Ask]
// has it list all communicators with the collectives that each rank has begun; [Status.Explain]
// says in lines which ranks are behind. The list is JSON, which RAS writes from NCCL 2.28.7 on.
package ras
