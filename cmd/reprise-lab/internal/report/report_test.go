package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"reprise/cmd/internal/cli/clitest"
)

// hostile is a text that would break out of its element if it were not escaped.
const hostile = `</title><script>alert("1 & 2")</script>`

func page() *Page {
	p := &Page{Title: "Title " + hostile, Command: "reprise replay --trace '" + hostile + "'", Notes: []string{"Seeds 1, 2."}}
	s := Section{Title: "First " + hostile}
	s.Say("A paragraph that says " + hostile + " and goes on, so that it is longer than a line of the terminal is wide and must be broken in two.")
	s.Show(&Table{Caption: "Open", Head: []string{"case", "%", "more"}, Texts: 1, Rows: [][]Cell{
		{{Text: "long name"}, {Text: "1.50"}, {Text: "+0.25 ± 0.10", Strong: true}},
		Cells(hostile, "12.25", "-3"),
	}})
	s.Show(&Table{Caption: "Folded", Head: []string{"case"}, Texts: 1, Folded: true, Rows: [][]Cell{{{Text: "best", Strong: true}}}})
	s.Draw(&Plot{Title: "Plot " + hostile, X: "capacity, % " + hostile, Y: "points", Zero: true, Ticks: []Tick{{1, "one"}, {2, hostile}}, Lines: []Line{
		{Name: "rac+", Style: Bold, Points: []Point{{1, 2, 0.5}, {2, -3, 0.25}}},
		{Name: hostile, Style: Plain, Points: []Point{{1, 1, 0.5}, {2, 0, 0.25}}},
		{Name: "belady", Style: Dashed, Points: []Point{{1, 4, 0}, {2, 4, 0}}},
		{Name: "hidden", Style: Faint, Points: []Point{{1, 0, 0}, {2, 1, 0}}},
		{Name: "empty", Style: Bold},
	}})
	s.Blocks = append(s.Blocks, Block{Terms: &Terms{Title: "1. Claim", Items: []Term{{"They say", hostile}, {"We measure", "less"}}}})
	p.Sections = []Section{s, {Title: "Second"}, kinds()}
	p.Summary = []Figure{{"Best", "+1.8 points", "Of rac+ " + hostile}, {"TTFT p90", "1.3 s", "With rac+."}}
	p.Words = []Term{{"TTFT", "time to first token " + hostile}, {"seed", "number that a trace is made from"}, {"lifespan", "from the first use to the last"}, {"absent", "no text has it"}}
	return p
}

// kinds is a section with the blocks besides text, tables, lines and terms.
func kinds() Section {
	s := Section{Title: "Kinds"}
	s.Compare(&Bars{Title: "Bars " + hostile, Y: "points", Digits: 1, Groups: []string{"a", hostile}, Series: []Series{
		{Name: "wa", Values: []Value{{1.5, 0.5}, {-1, 0}}}, {Name: hostile, Values: []Value{{math.NaN(), 0}}},
	}})
	s.Scatter(&Scatter{Title: "Frontier " + hostile, X: "mean " + hostile, Y: "worst", Points: []Spot{
		{"rac+", 0.5, -2, true}, {hostile, -9, -30, false}, {"none", math.NaN(), 1, false},
	}})
	s.Map(&Heat{Title: "Map " + hostile, X: "capacity", Y: "block size", Digits: 1, Columns: []string{"1%", hostile}, Rows: []string{"16", hostile},
		Values: [][]float64{{2, -1}, {math.NaN()}}})
	dense := &Heat{Title: "Dense", X: "position", Y: "turn", Digits: 2, Rows: []string{"1", "10"}, Values: [][]float64{nil, nil}}
	for i := range 16 {
		dense.Columns = append(dense.Columns, map[int]string{0: "0", 8: "8"}[i])
		dense.Values[0], dense.Values[1] = append(dense.Values[0], float64(i)/15), append(dense.Values[1], 0.5)
	}
	s.Map(dense)
	s.Claim(&Claims{Title: "Paper", Items: []Claim{
		{Claim: "More hits " + hostile, Where: "§5", Measured: "fewer, over the lifespans", Why: "another trace " + hostile, Command: "reprise-lab study '" + hostile + "'"},
		{Claim: "79 µs", Where: "§5.4", Measured: "1 µs"},
	}})
	return s
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTML: the page is well formed, loads nothing, escapes every text, and is the same each time.
func TestHTML(t *testing.T) {
	html := written(t, page())
	if html != written(t, page()) {
		t.Error("the same page differs from itself")
	}
	d := xml.NewDecoder(strings.NewReader(html))
	d.Entity = xml.HTMLEntity
	texts, ids := "", map[string]bool{}
	var links []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
		switch x := token.(type) {
		case xml.CharData:
			texts += string(x)
		case xml.StartElement:
			if x.Name.Local == "script" || x.Name.Local == "link" || x.Name.Local == "img" || x.Name.Local == "image" {
				t.Errorf("a <%s> in the page", x.Name.Local)
			}
			for _, a := range x.Attr {
				switch a.Name.Local {
				case "id":
					ids[a.Value] = true
				case "href":
					links = append(links, a.Value)
				}
			}
		}
	}
	if n := strings.Count(texts, hostile); n != 36 {
		t.Errorf("the hostile text occurs %d times, not 36", n)
	}
	for _, l := range links {
		if id, ok := strings.CutPrefix(l, "#"); !ok || !ids[id] {
			t.Errorf("a link to %s", l)
		}
	}
	for _, address := range regexp.MustCompile(`[a-z]+://[^"' ]+|url\([^)]*\)|@import`).FindAllString(html, -1) {
		if address != "http://www.w3.org/2000/svg" && address != "http://www.w3.org/1999/xlink" {
			t.Errorf("the page names %s", address)
		}
	}
	if len(links) != 3 || strings.Contains(texts, "hidden") || strings.Contains(texts, "empty") {
		t.Errorf("%d links; lines without a name or points may be named", len(links))
	}
}

// TestGolden: the page without its plots, and the text.
func TestGolden(t *testing.T) {
	html := regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(written(t, page()), "<svg/>")
	var text bytes.Buffer
	if err := Text(&text, page()); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "page.golden.html", html)
	clitest.Golden(t, "page.golden.txt", text.String())
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		want        string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{-8.1, 3.9, "-8 -6 -4 -2 0 2"},
		{21, 61, "25 30 35 40 45 50 55 60"},
		{0.97, 1.01, "0.97 0.98 0.99 1 1.01"},
		{0, 25_000, "0 5000 10k 15k 20k 25k"},
		{5, 5, ""},
	} {
		var got []string
		for _, tick := range steps(c.least, c.most) {
			got = append(got, tick.Label)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v to %v: got %s, want %s", c.least, c.most, text, c.want)
		}
	}
}
