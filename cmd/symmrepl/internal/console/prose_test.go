package console_test

import (
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

func TestFitText(t *testing.T) {
	const text = "func F(a, b, c, d int) (e, f, g error)\n\nF does this and that,\nand more.\n\n    code is code\n\nfunc (t T) M(a int) error\nfunc (t T) N()\n\n" +
		"  :a   says this, that and more\n  :bc  says no more"
	for columns, want := range map[int]string{
		0:  text,
		40: text,
		20: "func F(a, b, c, d\n  int) (e, f, g\n  error)\n\nF does this and\nthat, and more.\n\n    code is code\n\nfunc (t T) M(a int)\n  error\nfunc (t T) N()\n\n  :a   says this,\n       that and more\n  :bc  says no more",
	} {
		if got := console.FitText(text, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}
