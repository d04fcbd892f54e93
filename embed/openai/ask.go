package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	goopenai "github.com/sashabaranov/go-openai"

	"reprise/embed"
)

// ask sends one batch and returns unit vectors in the order of the texts, of any length.
func (e *Embedder) ask(ctx context.Context, batch []string) ([][]float32, error) {
	res, err := e.client.CreateEmbeddings(ctx, goopenai.EmbeddingRequestStrings{
		Input:      batch,
		Model:      goopenai.EmbeddingModel(e.o.Model),
		Dimensions: e.o.Dimensions,
		// Servers without base64 answer with floats, and a client that asked for base64 then fails.
		EncodingFormat: goopenai.EmbeddingEncodingFormatFloat,
	})
	if err != nil {
		return nil, e.serverError(ctx, err)
	}
	return arrange(res.Data, len(batch))
}

// serverError keeps the status and omits the server's message.
func (e *Embedder) serverError(ctx context.Context, err error) error {
	var api *goopenai.APIError
	var request *goopenai.RequestError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", errServer, ctx.Err())
	case errors.As(err, &request): // may wrap an APIError without a status
		return fmt.Errorf("%w: status %d", errServer, request.HTTPStatusCode)
	case errors.As(err, &api):
		return fmt.Errorf("%w: status %d", errServer, api.HTTPStatusCode)
	}
	return fmt.Errorf("%w: %w", errServer, err)
}

// arrange orders the rows by their index, because servers need not, and requires each index once.
func arrange(rows []goopenai.Embedding, n int) ([][]float32, error) {
	if len(rows) != n {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", errAnswer, len(rows), n)
	}
	out := make([][]float32, n)
	for _, row := range rows {
		switch {
		case row.Index < 0 || row.Index >= n || out[row.Index] != nil:
			return nil, fmt.Errorf("%w: index %d twice or out of range", errAnswer, row.Index)
		case len(row.Embedding) > maxDim:
			return nil, fmt.Errorf("%w: %d dimensions", errAnswer, len(row.Embedding))
		case !embed.Normalize(row.Embedding):
			return nil, fmt.Errorf("%w: a vector without direction", errAnswer)
		}
		out[row.Index] = row.Embedding
	}
	return out, nil
}

// limited bounds how much of an answer is read.
type limited struct {
	client *http.Client
	bytes  int64
}

// answerBytes is the size of the answer to a full batch of the longest vectors, with all digits and the JSON around them.
func answerBytes(batch int) int64 { return 1<<20 + int64(batch)*maxDim*24 }

func (l limited) Do(req *http.Request) (*http.Response, error) {
	res, err := l.client.Do(req)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, l.bytes)
	}
	return res, err
}
