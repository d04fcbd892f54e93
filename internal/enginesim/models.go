package enginesim

type modelBody struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// modelCreated is the time of creation of every model.
const modelCreated = 1700000000

// listing is the shape of OpenAI's lists.
type listing[T any] struct {
	Object string `json:"object"`
	Data   []T    `json:"data"`
}

func (e *Engine) models(c *call) error {
	if err := c.replaced(); err != nil {
		return err
	}
	out := listing[modelBody]{Object: "list", Data: []modelBody{}}
	for _, name := range e.o.Models {
		if name != AnyModel {
			out.Data = append(out.Data, modelBody{name, "model", modelCreated, "enginesim"})
		}
	}
	return c.json(out)
}

func (e *Engine) model(c *call) error {
	if err := c.replaced(); err != nil {
		return err
	}
	name := c.req.PathValue("id")
	if err := e.serves(name); err != nil {
		return err
	}
	return c.json(modelBody{name, "model", modelCreated, "enginesim"})
}
