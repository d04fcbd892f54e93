package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"reprise/embed"
)

// Options of New. Only Model is required.
type Options struct {
	// BaseURL is the URL without /embeddings. Default https://api.openai.com/v1.
	BaseURL string
	// Key is sent as a bearer token; empty sends none.
	Key string
	// Model is its name on the server.
	Model string
	// Dimensions is sent to the server if it is not 0. Leave it 0 for a model of fixed length: some servers refuse the field.
	// Dial then finds out the length.
	Dimensions int
	// Prefix is put before every text: e5, bge and nomic models need one. Both sides of a comparison get the same.
	Prefix string
	// Timeout of one request. Default 1 s: with a longer wait for a vector a cache is slower than the upstream.
	Timeout time.Duration
	// Thresholds of the model. The default, Hit 0.95, Route 0.80, Edge 0.60, is for a model of which nothing is known. The ranges of models differ: with
	// those that were trained at a low temperature, such as e5, cosines of unrelated texts lie between 0.7 and 0.8, so that a lower Hit would leave the
	// decision to vetoes and evidence alone; with others, such as text-embedding-3, many paraphrases lie below 0.9 and are missed. Lower Hit for
	// these after shadow mode has shown how many answers are wrong. Route and Edge decide about topics, never about an answer.
	Thresholds embed.Thresholds
	// HTTPClient replaces the default client, which keeps 16 idle connections.
	HTTPClient *http.Client
}

// errOptions is wrapped by every error of validate.
var errOptions = errors.New("bad embedder options")

// validate returns an error that names the first bad field.
func (o Options) validate() error {
	o = o.withDefaults()
	u, err := url.Parse(o.BaseURL)
	switch t := o.Thresholds; {
	case o.Model == "":
		return fmt.Errorf("%w: Model is empty", errOptions)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: BaseURL is no http or https URL", errOptions)
	case o.Dimensions != 0 && (o.Dimensions < minDim || o.Dimensions > maxDim):
		return fmt.Errorf("%w: Dimensions %d, want 0 or %d to %d", errOptions, o.Dimensions, minDim, maxDim)
	case o.Timeout < 0:
		return fmt.Errorf("%w: Timeout %v is negative", errOptions, o.Timeout)
	case !(0 < t.Edge && 0 < t.Route && t.Route < t.Hit && t.Edge < 1 && t.Hit <= 1):
		return fmt.Errorf("%w: Thresholds %+v, want 0 < Route < Hit <= 1 and 0 < Edge < 1", errOptions, t)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.BaseURL == "" {
		o.BaseURL = "https://api.openai.com/v1"
	}
	if o.Timeout == 0 {
		o.Timeout = time.Second
	}
	if o.Thresholds == (embed.Thresholds{}) {
		o.Thresholds = embed.Thresholds{Hit: 0.95, Route: 0.80, Edge: 0.60}
	}
	if o.HTTPClient == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16
		o.HTTPClient = &http.Client{Transport: transport}
	}
	return o
}
