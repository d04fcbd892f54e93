package observe

import "github.com/prometheus/client_golang/prometheus"

// Page takes the metrics of a scrape, each by one call with its name without "reprise_", what it is, its value, and names and values of labels
// by turns.
type Page chan<- prometheus.Metric

// Count adds a value that only increases.
func (p Page) Count(name, help string, n float64, labels ...string) {
	p.add(prometheus.CounterValue, name, help, n, labels)
}

// Gauge adds a value as it is now.
func (p Page) Gauge(name, help string, v float64, labels ...string) {
	p.add(prometheus.GaugeValue, name, help, v, labels)
}

// Flag adds 1 for true and 0 for false.
func (p Page) Flag(name, help string, is bool, labels ...string) {
	v := 0.0
	if is {
		v = 1
	}
	p.Gauge(name, help, v, labels...)
}

func (p Page) add(kind prometheus.ValueType, name, help string, v float64, labels []string) {
	var names, values []string
	for i := 0; i < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	p <- prometheus.MustNewConstMetric(prometheus.NewDesc("reprise_"+name, help, names, nil), kind, v, values...)
}
