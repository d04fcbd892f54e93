package profile

import "reprise/policy"

// mapping puts categories and windows to the rows and columns of maps.
type mapping struct {
	row   []int // of each category, -1: none
	names []string
	per   int // windows of a column
	step  float64
	cols  int
}

// mostRows is how many categories a map has: those with the most requests.
const mostRows = 24

// mapping names the rows by category, or by kind where no conversations are known.
func (p *summary) mapping(order []int, talks bool) *mapping {
	m := &mapping{row: make([]int, len(p.cells))}
	for i := range m.row {
		m.row[i] = -1
	}
	for i, category := range order[:min(len(order), mostRows)] {
		m.row[category] = i
		name := p.trace.Kinds[category/policy.MostTurns]
		if talks {
			name = p.name(category)
		}
		m.names = append(m.names, name)
	}
	m.per = (len(p.windows) + mostColumns - 1) / mostColumns
	m.cols = (len(p.windows) + m.per - 1) / m.per
	m.step = float64(m.per) * p.width
	return m
}

func (m *mapping) empty() *Map {
	out := &Map{Step: m.step, Rows: m.names}
	for range m.names {
		out.Values = append(out.Values, make([]float64, m.cols))
		out.Counts = append(out.Counts, make([]int64, m.cols))
	}
	return out
}

// add adds a sum over n to a cell.
func (m *mapping) add(out *Map, category uint32, window int, sum float64, n int64) {
	if r := m.row[category]; r >= 0 {
		out.Values[r][window/m.per] += sum
		out.Counts[r][window/m.per] += n
	}
}

// divide makes means of the sums.
func (m *Map) divide() {
	for r, row := range m.Values {
		for c := range row {
			if n := m.Counts[r][c]; n > 0 {
				row[c] /= float64(n)
			}
		}
	}
}

// nexts is the share of the requests that go on, by category and time.
func (p *summary) nexts(m *mapping) *Map {
	out := m.empty()
	for category, c := range p.cells {
		if c == nil {
			continue
		}
		for w, n := range c.counts {
			m.add(out, uint32(category), w, float64(c.nexts[w]), n)
		}
	}
	out.divide()
	return out
}
