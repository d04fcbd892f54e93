package replay

// Help describes traces and hits, for the help of a command that plays them.
const Help = `A trace is a generated workload, generate:NAME, or a file, packed with gzip, zstd or not, in one of
these formats:
  requests        a request log, as REPRISE_RECORD=FILE has the proxy write it: one JSON object a line.
                  One of id, text and vector is needed; at (seconds), topic, conversation,
                  parent (an id), scope, turn, size (bytes) and cost (tokens) are optional
  ids             one number or name a line
  oracle-general  libCacheSim's records of 24 bytes
  oasst, sgd, sharegpt
                  recorded conversations, in which each turn of a user is a request

A request is a hit if the answer to one of equal id and scope is in the cache (--model ids), or to one of
like meaning, as in the proxy (--model requests). The default for a trace with texts or vectors and no ids
is --model requests. Topics can be given by the trace, routed as in the proxy, or clustered before.
The table shows three bounds beside the policies: belady, the optimum of a cache that keeps every new
answer, belady-bypass, that of one that may refuse it, and the infinite cache.
Ctrl-C prints what is done.
`
