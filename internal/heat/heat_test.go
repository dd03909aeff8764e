package heat

import (
	"bytes"
	"encoding/base64"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
)

func TestImage(t *testing.T) {
	html := Image([]float64{-1, 0, 3, math.NaN(), math.Inf(1), 1}, 3, 2, 3)
	const before = `<span><img class="symm-heat" alt="heat map of -1 to 3" width="42" height="28" src="data:image/png;base64,`
	text, ok := strings.CutPrefix(html, before)
	text, after, ends := strings.Cut(text, `"><br><small>-1 <img class="symm-scale" alt="to" width="96" height="8" src="data:image/png;base64,`)
	ends = ends && strings.HasSuffix(after, `"> 3</small></span>`)
	if !ok || !ends {
		t.Fatalf("%s, want %s…", html, before)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []color.RGBA{Shade(0), Shade(float64(64) / 254), Shade(1), none, none, Shade(0.5)} {
		if got := color.RGBAModel.Convert(picture.At(i%3*14+7, i/3*14+7)); got != want {
			t.Errorf("square %d is %v, want %v", i, got, want)
		}
	}
	for name, c := range map[string]struct {
		values                []float64
		beside, rows, columns int
		size                  string
	}{
		"one row":          {make([]float64, 512), 512, 1, 512, `width="512" height="12"`},
		"one column":       {make([]float64, 84), 1, 84, 1, `width="12" height="252"`},
		"one number":       {[]float64{7}, 1, 1, 1, `width="14" height="14"`},
		"parts of 8 rows":  {make([]float64, 64*32), 64, 256, 64, `width="64" height="256"`},
		"a reduced square": {make([]float64, 64*32), 64, 512, 512, `width="288" height="288"`},
		"a reduced vector": {make([]float64, 64), 64, 1, 1 << 30, `width="288" height="12"`},
		"a reduced 2 to 1": {make([]float64, 64*32), 64, 2000, 1000, `width="144" height="288"`},
	} {
		if got := Image(c.values, c.beside, c.rows, c.columns); !strings.Contains(got, c.size) {
			t.Errorf("%s: %.200s, want %s", name, got, c.size)
		}
	}
	if got := Image([]float64{math.NaN()}, 1, 1, 1); got != "" {
		t.Errorf("a picture without numbers: %s", got)
	}
	if got := Without("a" + html + "b" + html); got != "ab" {
		t.Errorf("%q without its images", got)
	}
}
