package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise-lab/internal/cmdline"
	"reprise/cmd/reprise-lab/internal/matching"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/source"
	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/internal/suggest"
)

// blockFlags are the flags of block traces alone.
type blockFlags struct {
	asked  bool
	shape  source.Shape
	speed  blocks.Speed
	second string
	bytes  int64

	continues, embedder string
}

// blockNames are the flags of blockFlags, in the order of the help.
var blockNames = slices.Concat([]string{"blocks"}, source.ShapeNames, []string{"continues", "embedder", "second-tier", "bytes-per-token"}, timeNames)

// timeNames are the flags of the times of requests.
var timeNames = []string{"prefill-tokens-per-second", "prefill-seconds", "decode-tokens-per-second", "swap-tokens-per-second", "servers", "closed-loop"}

// blockCapacities is the default of --capacity for block traces.
const blockCapacities = "1%,5%,10%,25%,50%"

func (b *blockFlags) register(fs *flag.FlagSet) {
	fs.BoolVar(&b.asked, "blocks", false, "play conversations (oasst, sgd, sharegpt) as blocks too: each turn is a prompt that has all earlier ones")
	b.shape.Register(fs)
	fs.StringVar(&b.continues, "continues", "", "`FILE` of `reprise-lab train lpc` that predicts, for traces with texts, which conversations go on; without it lpc has no predictions. Of a file that trained it, by its name, only the conversations that were held out are played")
	fs.StringVar(&b.embedder, "embedder", embedderBuiltin, "`NAME` is the embedder that the model was trained with: builtin, or model2vec:DIR")
	fs.StringVar(&b.second, "second-tier", "", "`CAPACITY` of a second tier, which has what the first one evicts, under the same policy; unset: none")
	registerBytes(fs, &b.bytes)
	fs.Float64Var(&b.speed.Prefill, "prefill-tokens-per-second", 0, "`N` tokens of a prompt that a server computes in a second; unset: requests take no time, and no times are measured")
	fs.Float64Var(&b.speed.Fixed, "prefill-seconds", 0, "`SECONDS` before each first token, whatever the prompt")
	fs.Float64Var(&b.speed.Decode, "decode-tokens-per-second", 0, "`N` tokens of one answer in a second; 0: an answer takes no time")
	fs.Float64Var(&b.speed.Swap, "swap-tokens-per-second", 0, "`N` tokens that the second tier gives back in a second; 0: at once")
	fs.IntVar(&b.speed.Servers, "servers", 1, "`N` servers that share the cache and the queue")
	fs.BoolVar(&b.speed.Closed, "closed-loop", false, "a turn arrives its think time after the answer before it, and not at its recorded time")
}

func registerBytes(fs *flag.FlagSet, bytes *int64) {
	fs.Int64Var(bytes, "bytes-per-token", blocks.DefaultBytesPerToken, "`N` bytes of KV cache for a token, for capacities in bytes: 2 × layers × KV heads × dimensions of a head × bytes of a number; that of Llama 3.1 8B in 16 bits")
}

// blocksHelp describes block traces and their replay.
var blocksHelp = `Or a trace has prompts as chains of KV blocks: generate:NAME of ` + "`reprise-lab generate --list`" + `, or a
file in one of these formats:
` + source.Help() + `Files that have blocks are played as blocks, and conversations with --blocks. A block hits if it and all
before it in its prompt are in the cache. Blocks of running requests are pinned; a request touches its
blocks from the deepest to the first, so that of equal ones the deepest goes first. The policies are those
of ` + "`reprise-lab replay --list`" + `. Bounds beside them: ` + blocks.Infinite + `; ` + blocks.Belady + `, which evicts the block whose next use is
last; ` + blocks.Oracle + `, which is lpc with the truth about which conversations go on.

Times, with --prefill-tokens-per-second: a server prefills one prompt at a time, in the order of arrival;
that takes the fixed cost and the time of the tokens that were not in the cache. It decodes beside it. TTFT
is the time from the begin of the prefill to the first token; queued TTFT includes the time in the queue.
`

// blockPolicies are the policies of a replay of blocks for which none are named; those that go by predictions only if there are some.
func blockPolicies(predicted bool) []string {
	all := []string{"lru", "fifo", "lfu", "aging-lfu", "s3fifo", "gdfs", "wa", "wa+"}
	if predicted {
		all = append(all, "lpc", "lpc-wa")
	}
	return all
}

// checkBlocks reports a wrong value of a flag for block traces.
func (o *replayFlags) checkBlocks(set map[string]bool) error {
	for _, name := range append([]string{"windows"}, matching.Names...) {
		if set[name] {
			return fmt.Errorf("--%s goes with traces of requests: these are KV blocks", name)
		}
	}
	b := &o.blocks
	for _, name := range timeNames[1:] {
		if set[name] && !(b.speed.Prefill > 0) {
			return fmt.Errorf("--%s goes with --prefill-tokens-per-second, without which requests take no time", name)
		}
	}
	if !set["policy"] {
		o.Policies = ""
	}
	if !set["capacity"] {
		o.Capacities = blockCapacities
	}
	switch {
	case o.Warmup < 0 || o.Parallel < 0:
		return errors.New("--warmup and --parallel are 0 or more")
	case b.bytes < 1:
		return fmt.Errorf("--bytes-per-token %d: want 1 or more", b.bytes)
	case set["servers"] && b.speed.Servers < 1:
		return fmt.Errorf("--servers %d: want 1 or more", b.speed.Servers)
	case set["embedder"] && b.continues == "":
		return errors.New("--embedder goes with --continues")
	case set["swap-tokens-per-second"] && b.second == "":
		return errors.New("--swap-tokens-per-second goes with --second-tier")
	case set["prefill-tokens-per-second"]:
		if err := b.speed.Validate(); err != nil {
			return err
		}
	}
	return b.shape.Check()
}

// blockOptions are the options of a replay; Policies is empty where none are named.
func (o *replayFlags) blockOptions() (with blocks.Options, err error) {
	with = blocks.Options{Seed: o.Seed, Warmup: o.Warmup, Parallel: o.Parallel, BytesPerToken: o.blocks.bytes}
	if o.blocks.speed.Prefill > 0 {
		with.Speed = &o.blocks.speed
	}
	if with.Policies, err = parseBlockPolicies(o.Policies); err != nil {
		return with, cli.Usage(o.Command, replay.Hint, "%v", err)
	}
	for piece := range strings.SplitSeq(o.Capacities, ",") {
		c, err := blocks.ParseCapacity(piece)
		if err != nil {
			return with, cli.Usage(o.Command, "", "%v", err)
		}
		if !slices.Contains(with.Capacities, c) {
			with.Capacities = append(with.Capacities, c)
		}
	}
	if o.blocks.second != "" {
		if with.Second, err = blocks.ParseCapacity(o.blocks.second); err != nil {
			return with, cli.Usage(o.Command, "", "--second-tier: %v", err)
		}
	}
	return with, nil
}

// parseBlockPolicies reads the list of --policy. "all" is every policy of the policies.
func parseBlockPolicies(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	known := slices.Concat(policies.All.Names(), blocks.Bounds())
	return sim.ListPolicies(list, policies.All.Names(), func(name string) error {
		if base, _, _ := strings.Cut(name, ":"); !slices.Contains(known, base) {
			return fmt.Errorf("policy %q: want some of %s%s", base, strings.Join(known, ", "), suggest.DidYouMean(base, known))
		}
		return blocks.CheckPolicy(name)
	})
}

// runBlocks plays block traces and writes what is complete, even if it ended early.
func (o *replayFlags) runBlocks(ctx context.Context, t cli.Terminal) error {
	with, err := o.blockOptions()
	if err != nil {
		return err
	}
	traces, err := o.openBlocks(ctx, t)
	if err != nil {
		return err
	}
	html, err := openReport(o.html)
	if err != nil {
		return err
	}
	defer html.discard()
	var all []playedBlocks
	left := 0
	for _, one := range traces {
		var played []blocks.Result
		var missing int
		played, missing, err = o.playBlocks(ctx, t, one, with)
		left += missing
		if len(played) > 0 {
			all = append(all, playedBlocks{one, played})
			err = errors.Join(err, o.showBlocks(t.Out, &all[len(all)-1]))
		}
		if err != nil {
			break
		}
	}
	if !o.json && len(all) > 0 {
		writeBlockLegend(t.Out, with.Speed != nil)
	}
	if ctx.Err() != nil {
		fmt.Fprintf(t.Err, "%s: interrupted: the figures are of what was complete; %d others were not\n", o.Command, left)
		err = cli.ErrInterrupted
	}
	if len(all) == 0 {
		return err
	}
	return errors.Join(err, writeReport(html, blockPage(all, &with, o.command)))
}

// openBlocks opens the traces, with predictions if there is a model.
func (o *replayFlags) openBlocks(ctx context.Context, t cli.Terminal) ([]*blocks.Trace, error) {
	from := source.Flags{Command: o.Command, Traces: o.Traces, Format: o.Format, Seed: o.Seed, Shape: o.blocks.shape}
	if o.blocks.continues == "" {
		return from.Open(ctx, t.Err)
	}
	embedder, err := openEmbedder(o.blocks.embedder)
	if err != nil {
		return nil, cli.Usage(o.Command, "", "%v", err)
	}
	if from.Model, err = source.OpenModel(o.blocks.continues, embedder); err != nil {
		return nil, err
	}
	return from.Open(ctx, t.Err)
}

// playBlocks plays a trace, and returns the results that are complete and how many are not.
func (o *replayFlags) playBlocks(ctx context.Context, t cli.Terminal, one *blocks.Trace, with blocks.Options) (played []blocks.Result, left int, err error) {
	if len(with.Policies) == 0 {
		with.Policies = blockPolicies(predicted(one))
	}
	if !o.json {
		with.Policies = withBlockBounds(with.Policies, one)
	}
	if o.Warmup >= len(one.Requests) {
		return nil, 0, fmt.Errorf("replay %s: no requests after a warm-up of %d: it has %d", one.Name, o.Warmup, len(one.Requests))
	}
	if !predicted(one) && slices.ContainsFunc(with.Policies, func(p string) bool { return strings.HasPrefix(p, "lpc") }) {
		fmt.Fprintf(t.Err, "%s: no predictions of which conversations go on, so that all are equal for lpc; with texts, --continues makes some\n", one.Name)
	}
	shown := replay.NewProgress(t.Err)
	with.Progress = shown.Note
	hide := shown.Show(one.Name)
	results, err := blocks.Replay(ctx, one, with)
	hide()
	for _, r := range results {
		if err == nil || int(r.Requests) == len(one.Requests)-o.Warmup {
			played = append(played, r)
		} else {
			left++
		}
	}
	return played, left, err
}

// predicted reports whether a trace has predictions of which conversations go on.
func predicted(t *blocks.Trace) bool {
	return slices.ContainsFunc(t.Requests, func(r blocks.Request) bool { return r.Prob > 0 })
}

// withBlockBounds adds the bounds that every table shows: the oracle only if some conversations of the trace go on.
func withBlockBounds(policies []string, t *blocks.Trace) []string {
	all := slices.Clone(policies)
	goesOn := slices.ContainsFunc(t.Requests, func(r blocks.Request) bool { return r.GoesOn })
	for _, name := range slices.Backward(blocks.Bounds()) { // equal ones stay in this order: infinite is first
		if !slices.Contains(all, name) && (goesOn || name != blocks.Oracle) {
			all = append(all, name)
		}
	}
	return all
}

// showBlocks writes the results of a trace.
func (o *replayFlags) showBlocks(w io.Writer, p *playedBlocks) error {
	if !o.json {
		return p.write(w)
	}
	return cmdline.WriteLines(w, p.results)
}
