// Package classic has the policies of the literature that do not use topics and dependencies, one file each: queues
// (FIFO, LRU, Clock, Sieve, 2Q, ARC, S3-FIFO, LIRS, W-TinyLFU), keys in a heap (LFU, GDSF, Aging LFU), lives (TTL), and
// those that learn (LHD, LeCaR, Cacheus).
//
// A file has the spec, the type, the constructor, Insert, Hit, Replace where size or cost count, Victim, Remove and helpers,
// in that order. lru.go is the smallest; s3fifo.go shows queues and ghosts.
package classic
