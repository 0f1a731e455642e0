package timeline

import "fmt"

// Count is a counter that a candidate exports, and what its own log allows at
// that reading: at least what had been done before it, at most what had been
// started when it was over.
type Count struct {
	Name          string
	Got           float64
	Least, AtMost float64
}

// Differences are the counters outside their bounds, as sentences.
func Differences(counts []Count) (all []string) {
	for _, c := range counts {
		if c.Got < c.Least || c.Got > c.AtMost {
			all = append(all, fmt.Sprintf("%s is %v, the log has %v to %v", c.Name, c.Got, c.Least, c.AtMost))
		}
	}
	return all
}
