package otelsetup

// Histograms is the pipeline's Producer.
func (p *Pipeline) Histograms() *Histograms { return p.histograms }
