package console_test

import (
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func TestFitDocumentation(t *testing.T) {
	const text = "func F(a, b, c, d int) (e, f, g error)\n\nF does this and that,\nand more.\n\n    code stays as it is\n\nfunc (t T) M(a int) error\nfunc (t T) N()"
	for columns, want := range map[int]string{
		0:  text,
		40: text,
		12: "func F(a, b, c, d int) (e, f, g error)\n\nF does this\nand that,\nand more.\n\n    code stays as it is\n\nfunc (t T) M(a int) error\nfunc (t T) N()",
	} {
		if got := console.FitDocumentation(text, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}
