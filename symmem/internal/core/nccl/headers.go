package nccl

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
)

// IncludesHeader reports whether a text of kernels includes a header of NCCL's, and says why it
// cannot be compiled with NCCL's own, if so. A text that cannot be read is the compiler's to
// refuse: it counts as including none.
func IncludesHeader(text string) (includes bool, cannot string) {
	tokens, err := cudalex.Tokens(text)
	if err != nil || !includesHeader(text) {
		return false, ""
	}
	part, barrier := "", false
	for _, t := range tokens {
		switch {
		case t.Kind != cudalex.Word:
		case beyondTeam(t.Text):
			return true, fmt.Sprintf("it uses %s, and with NCCL's own kernels have the barriers and pointers of the LSA team", t.Text)
		case t.Text == "ncclTeamInnerFactor" || t.Text == "ncclTeamOuterFactor":
			part = t.Text
		case t.Text == "ncclLsaBarrierSession":
			barrier = true
		}
	}
	if part != "" && barrier { // NCCL's places the words of a barrier by its team's size: those of a part would be another's
		return true, fmt.Sprintf("it uses %s, and NCCL's own has the barriers of the whole LSA team alone", part)
	}
	return true, ""
}

func includesHeader(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), "")
		for _, name := range []string{"nccl_device.h", "nccl.h"} {
			if strings.HasPrefix(line, "#include<"+name+">") || strings.HasPrefix(line, `#include"`+name+`"`) {
				return true
			}
		}
	}
	return false
}

// beyondTeam reports whether a name of NCCL's is of something that is not made for kernels with its
// own header.
func beyondTeam(name string) bool {
	if !strings.HasPrefix(name, "nccl") {
		return name == "hybridLsaBarrier" || name == "lsaLLA2A"
	}
	return strings.HasPrefix(name, "ncclGin") || strings.HasPrefix(name, "ncclLLA2A") || strings.HasPrefix(name, "ncclCft") ||
		strings.Contains(name, "Multimem") ||
		strings.Contains(name, "ResourceBuffer") || strings.HasPrefix(name, "ncclDevResource") || name == "ncclBarrierSession" ||
		name == "ncclBarrier"
}
