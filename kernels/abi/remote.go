package abi

// Reasons for which a kernel's call is refused: symm::Refusal.
const (
	BadMember  = 1
	BadPlace   = 2
	BadSignal  = 3
	BadCounter = 4
	BadChannel = 5
)

// Calls that can be refused: symm::RemoteCall.
const (
	CallPut           = 1
	CallPutValue      = 2
	CallGet           = 3
	CallSignal        = 4
	CallWaitForSignal = 5
	CallCounter       = 6
	CallPutSignal     = 7
	CallWaitSignal    = 8
	CallBarrier       = 9
)
