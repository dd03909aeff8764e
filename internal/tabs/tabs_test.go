package tabs

import (
	"regexp"
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	inner := HTML([]Tab{{Label: "x", HTML: "1"}, {Label: "y", HTML: "2"}})
	got := HTML([]Tab{{Label: "a <b>", HTML: "<i>a</i>"}, {Label: "b", HTML: inner, Failed: true, Open: true}})
	want := Style + `<div class="symm-tabs"><details name="symm-tabs"><summary>a &lt;b&gt;</summary><i>a</i></details>` +
		`<details name="symm-tabs" open=""><summary class="symm-failed">b</summary>` +
		`<div class="symm-tabs"><details name="symm-tabs" open=""><summary>x</summary>1</details><details name="symm-tabs"><summary>y</summary>2</details></div></details></div>`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The tabs of a group have the same name, those of different groups and outputs different ones.
func TestName(t *testing.T) {
	inner := `<div>` + HTML([]Tab{{Label: "x", HTML: "1"}, {Label: "y", HTML: "2"}}) + `</div>`
	page := HTML([]Tab{{Label: "a", HTML: inner}, {Label: "b", HTML: inner}})
	names := func(id string) []string {
		var all []string
		for _, m := range regexp.MustCompile(`<details name="symm-([0-9a-f]{8}-[0-9])"`).FindAllStringSubmatch(Name(page, id), -1) {
			all = append(all, m[1])
		}
		return all
	}
	got := names("1")
	var groups []string
	for _, name := range got {
		groups = append(groups, name[len(name)-1:])
	}
	if want := "1 2 2 1 3 3"; strings.Join(groups, " ") != want {
		t.Errorf("groups %v, want %s", groups, want)
	}
	if other := names("2"); other[0] == got[0] {
		t.Errorf("two outputs have the name %s", got[0])
	}
	if got, want := regexp.MustCompile(`symm-[0-9a-f]{8}-[0-9]`).ReplaceAllString(Name(page, "1"), "symm-tabs"), page; got != want {
		t.Errorf("Name changes %s\nto %s", want, got)
	}
	for _, text := range []string{"", "<b>x</b>", `<div`, `</div>` + group} {
		if got := regexp.MustCompile(`symm-[0-9a-f]{8}-[0-9]`).ReplaceAllString(Name(text, "1"), "symm-tabs"); got != text {
			t.Errorf("Name changes %s to %s", text, got)
		}
	}
}
