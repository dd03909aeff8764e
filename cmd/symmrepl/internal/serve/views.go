package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/symmrepl/symmrepl/session"
)

// share lets ranks send descriptors of the memory of a tensor to the program, which listens at a
// socket in the folder for files of tensors. found are the types of the expression.
func (s *server) share(ctx context.Context, q *get, found []typed) (answer, error) {
	if filepath.Dir(q.Socket) != s.folder {
		return answer{}, wrong("socket", "%.100q is not in %s", q.Socket, s.folder)
	}
	for _, t := range found {
		if t.name != tensorType {
			return answer{}, wrong("expr", "%s is no tensor on rank %s, and only tensors have memory to share: it is %s",
				q.Expr, session.FormatRanks(t.ranks), t.name)
		}
	}
	var list []got
	for _, t := range found { // one type at most
		if failed := s.eval(ctx, "get", fmt.Sprintf("(%s).ExportTo(%s)", q.Expr, strconv.Quote(q.Socket)), t.ranks); failed != nil {
			return *failed, nil
		}
		for _, rank := range t.ranks {
			list = append(list, got{Rank: rank, Sent: true})
		}
	}
	return answer{Got: list}, nil
}
