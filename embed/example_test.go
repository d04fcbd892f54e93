package embed_test

import (
	"context"
	"fmt"

	"reprise/embed"
)

// Vectors of one space are compared by their inner product. A text without a word has no vector.
func Example() {
	e := embed.NewBuiltin()
	v, err := e.Embed(context.Background(), []string{"How do I reset my password?", "how to reset the password", "boil an egg", "?!"})
	if err != nil {
		panic(err)
	}
	fmt.Println(e.Space(), len(v[0]) == e.Dim(), v[3] == nil)
	fmt.Printf("%.2f %.2f\n", embed.Dot(v[0], v[1]), embed.Dot(v[0], v[2]))
	// Output:
	// builtin-lexical-v1-384 true true
	// 0.98 0.02
}
