package main

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/proxy"
	"reprise/proxy/admin"
	"reprise/proxy/learn"
	"reprise/proxy/review"
)

// reviews are the pairs of a proxy as the admin API takes them.
type reviews struct{ *review.Desk }

func (r reviews) List(kind string, limit int) (any, bool) {
	if kind != "" && !review.IsKind(kind) {
		return nil, false
	}
	return r.Desk.List(kind, limit), true
}

func (r reviews) Say(id uint64, right bool) (any, error) {
	pair, err := r.Desk.Say(id, right)
	return pair, inAdmin(err)
}

func (r reviews) Unsay(id uint64) (any, error) {
	pair, err := r.Desk.Unsay(id)
	return pair, inAdmin(err)
}

// inAdmin is an error of a verdict in the words of the admin API.
func inAdmin(err error) error {
	switch {
	case errors.Is(err, learn.ErrUnknownReview):
		return admin.ErrNoReview
	case errors.Is(err, learn.ErrSaid):
		return admin.ErrSaid
	case errors.Is(err, learn.ErrTooLate):
		return admin.ErrTooLate
	}
	return err
}

// copyOf copies an entry before its purge.
func (s *service) copyOf(ctx context.Context, id policy.ID) (c admin.Copied, ok bool, err error) {
	putBack, drop, ok, err := proxy.CopyOf(ctx, s.proxy, id)
	c.Drop = drop
	c.PutBack = func(ctx context.Context) (policy.ID, error) {
		id, err := putBack(ctx)
		if errors.Is(err, proxy.ErrTaken) {
			err = admin.ErrTaken
		}
		return id, err
	}
	return c, ok, err
}
