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

// In HTML, paragraphs of prose are filled by the front end, and other blocks keep their lines. Text is
// no HTML.
func TestHTMLText(t *testing.T) {
	const text = "func F[T <any>]()\n\nF does\nthis & that.\n\n  a  b\n\n// a.h\nint f();\n\n\tf()\n"
	const want = "<pre style=\"margin:0 0 1em;background:transparent\">func F[T &lt;any&gt;]()</pre>\n<p>F does\nthis &amp; that.</p>\n<pre style=\"margin:0 0 1em;background:transparent\">  a  b</pre>\n<pre style=\"margin:0 0 1em;background:transparent\">// a.h\nint f();</pre>\n<pre style=\"margin:0 0 1em;background:transparent\">\tf()</pre>\n"
	if got := console.HTMLText(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
