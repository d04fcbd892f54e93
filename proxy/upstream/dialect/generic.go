package dialect

// generic is the dialect of any OpenAI-compatible upstream, such as DeepSeek, Ollama and TGI. It adds one field: a stream is asked to report
// its usage, because a stored answer must have it.
var generic = table{name: Default, usage: true}
