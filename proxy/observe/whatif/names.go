package whatif

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"reprise/policy/registry"
)

// scaled is a policy for a cache that is smaller by a factor. rac+ samples its shadows from a number of entries on, which is scaled too. The
// proxy maximises hits, also under a limit in bytes.
func scaled(name string, rate float64, bytes bool) string {
	base, given, _ := strings.Cut(name, ":")
	for _, info := range registry.List() {
		for _, p := range info.Params {
			switch v := parameter(given, p.Name); {
			case info.Name != base:
			case p.Name == "value" && bytes && v == "":
				name = With(name, p.Name, "hits")
			case base == "rac+" && p.Name == "sample" && rate < 1:
				if n, err := strconv.ParseFloat(cmp.Or(v, p.Default), 64); err == nil {
					name = With(name, p.Name, strconv.Itoa(max(int(n*rate), 1)))
				}
			}
		}
	}
	return name
}

// parameter is the value of one of the parameters behind the name of a policy; "": it is not given.
func parameter(given, key string) string {
	for pair := range strings.SplitSeq(given, ",") {
		if v, ok := strings.CutPrefix(pair, key+"="); ok {
			return v
		}
	}
	return ""
}

// With is a policy, whose name may be followed by parameters, with another value of one of them.
func With(name, key, value string) string {
	base, given, _ := strings.Cut(name, ":")
	all := slices.DeleteFunc(strings.Split(given, ","), func(pair string) bool { return pair == "" || strings.HasPrefix(pair, key+"=") })
	return base + ":" + strings.Join(append(all, key+"="+value), ",")
}
