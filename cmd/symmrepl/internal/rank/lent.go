package rank

import (
	"context"
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/lending"
	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// lenderPatience is the time for which the list of variables waits for the program.
const lenderPatience = 2 * time.Second

// dtypes are the element types by PyTorch's names.
var dtypes = map[string]symmem.DType{
	"float16": symmem.F16, "bfloat16": symmem.BF16, "float32": symmem.F32, "float64": symmem.F64, "int8": symmem.I8, "uint8": symmem.U8,
	"int16": symmem.I16, "uint16": symmem.U16, "int32": symmem.I32, "uint32": symmem.U32, "int64": symmem.I64, "uint64": symmem.U64,
	"float8_e4m3fn": symmem.F8E4M3, "float8_e5m2": symmem.F8E5M2, "bool": symmem.Bool, "complex64": symmem.C64, "complex128": symmem.C128,
}

// lend returns the function by which symmetric memory borrows tensors of the program.
func lend(from lending.Lender) func(context.Context, string) (symmem.Lent, error) {
	return func(ctx context.Context, name string) (symmem.Lent, error) {
		t, err := from.Tensor(ctx, name)
		if err != nil {
			return symmem.Lent{}, err
		}
		dtype, known := dtypes[t.DType]
		if !known {
			return symmem.Lent{}, fmt.Errorf("%s has elements of %s, which cells do not have", name, t.DType)
		}
		f, err := t.Open()
		if err != nil {
			return symmem.Lent{}, err
		}
		return symmem.Lent{Memory: f, Size: t.Size, Pad: t.Pad, Data: t.Data, Bytes: t.Bytes, Offset: t.Offset, DType: dtype, Shape: t.Shape}, nil
	}
}

// attached is an interpreter whose variables are listed with the tensors of the program that lends them.
type attached struct {
	*interp.Interp
	from lending.Lender
}

// Inspect implements session.Evaluator.
func (a attached) Inspect(ctx context.Context, q session.Query) (session.Answer, error) {
	if q.Topic == session.TopicGoOn {
		name, err := a.from.Continue(ctx)
		return session.Answer{Text: name + " goes on"}, err
	}
	answer, err := a.Interp.Inspect(ctx, q)
	if err != nil || q.Topic != session.TopicVars {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, lenderPatience)
	defer cancel()
	variables, err := a.from.Variables(ctx)
	if err != nil {
		answer.Lent = []session.Variable{{Name: "(none)", Value: err.Error()}}
	}
	for _, v := range variables {
		answer.Lent = append(answer.Lent, session.Variable{Name: v.Name, Type: v.Type, Size: v.Bytes, Value: v.Value})
	}
	return answer, nil
}
