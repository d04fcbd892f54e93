package redis

import (
	"context"
	"fmt"
	"time"

	"reprise/store"
)

// Lease takes the lease of a flight, and reports whether this process has it now. It ends after ttl unless it is renewed.
func (s *Shared) Lease(ctx context.Context, key store.Key, ttl time.Duration) (mine bool, err error) {
	mine, err = s.link.client().SetNX(ctx, s.link.keys.flight(key), s.token, ttl).Result()
	if err != nil {
		return false, fmt.Errorf("take lease: %w", s.link.seen(err))
	}
	return mine, nil
}

// Renew prolongs leases to ttl from now; one that this process does not have any more stays as it is.
func (s *Shared) Renew(ctx context.Context, ttl time.Duration, flights ...store.Key) error {
	if len(flights) == 0 {
		return nil
	}
	if _, err := s.link.run(ctx, renewScript, s.link.keys.flights(flights), s.token, ttl.Milliseconds()); err != nil {
		return fmt.Errorf("renew leases: %w", err)
	}
	return nil
}

// Release ends leases that this process has.
func (s *Shared) Release(ctx context.Context, flights ...store.Key) error {
	if len(flights) == 0 {
		return nil
	}
	if _, err := s.link.run(ctx, releaseScript, s.link.keys.flights(flights), s.token); err != nil {
		return fmt.Errorf("release leases: %w", err)
	}
	return nil
}

func (k *keys) flights(keys []store.Key) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = k.flight(key)
	}
	return names
}
