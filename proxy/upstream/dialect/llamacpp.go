package dialect

// llama.cpp's server keeps prompts by itself (cache_prompt is true), and chooses the slot with the most similar one. id_slot would choose a
// slot by hand, which only the server's owner can do.
var llamaCPP = table{name: "llamacpp", usage: true, strip: names{"id_slot": nil}}
