// Package classic has the policies of the literature that do not use topics and dependencies, one file each: LRU, S3-FIFO, LIRS and W-TinyLFU,
// which keep queues, and TTL, which ends the life of an entry. Those that only replays compare are in the laboratory.
//
// A file has the spec, the type, the constructor, Insert, Hit, Replace where size or cost count, Victim, Remove and helpers,
// in that order. lru.go is the smallest; s3fifo.go shows queues and ghosts.
package classic
