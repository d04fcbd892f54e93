// One llama.cpp context whose sequences are slots. A request gets the idle slot that shares the longest prefix with its prompt, what differs
// is erased from the slot's KV cache, and only the rest of the prompt is evaluated: as llama.cpp's own server does.
import path from "node:path"
import {pathToFileURL} from "node:url"

// A prompt that shares less than this part of itself with every idle slot gets the one that was used longest ago: llama.cpp's default of
// --slot-prompt-similarity.
const leastSimilarity = 0.1

// A prompt is evaluated in pieces of this size; a client that leaves ends its evaluation between two of them.
const batch = 512

export class Engine {
	stats = {requests: 0, cancelled: 0, prompt_tokens: 0, cached_tokens: 0, evaluated_tokens: 0, generated_tokens: 0, prompt_ms: 0, queued_most: 0}
	#slots = []
	#queue = [] // of requests that wait for a slot
	#clock = 0 // counts uses of slots
	#hold // while set, answers stop after some tokens

	// load reads a model. modules is the folder that has node-llama-cpp; context is the number of tokens of each slot.
	static async load({modules, model, slots, context, threads}) {
		const {getLlama} = await import(pathToFileURL(path.join(path.resolve(modules), "node-llama-cpp", "dist", "index.js")))
		const llama = await getLlama({gpu: false, build: "never", skipDownload: true, progressLogs: false, logLevel: "error", maxThreads: threads})
		const engine = new Engine()
		engine.model = await llama.loadModel({modelPath: model})
		engine.context = await engine.model.createContext({contextSize: context, sequences: slots, threads, batchSize: batch})
		for (let id = 0; id < slots; id++) engine.#slots.push({id, sequence: engine.context.getSequence(), busy: false, used: 0})
		return engine
	}

	// room is the number of tokens that a prompt and its answer may have together.
	get room() { return this.context.contextSize - 1 }

	slots() { return this.#slots.map(({id, sequence, busy}) => ({id, busy, tokens: sequence.nextTokenIndex})) }

	get queued() { return this.#queue.length }

	tokenize(text) { return this.model.tokenize(text) }

	// hold makes each answer stop after so many tokens, until release. Its client sees a stream that pauses.
	hold(after) {
		this.release()
		const hold = {after}
		hold.over = new Promise(resolve => { hold.end = resolve })
		this.#hold = hold
	}

	release() {
		this.#hold?.end()
		this.#hold = undefined
	}

	// generate yields the tokens of an answer as {text, prompt}; prompt has what the evaluation of the prompt took. Without any token (limit
	// 0) it yields one without text. A signal that is aborted ends it, and leaves in the slot what was evaluated.
	async *generate(tokens, limit, signal) {
		this.stats.requests++
		let slot
		try {
			slot = await this.#acquire(tokens, signal)
			yield* this.#run(slot.sequence, tokens, limit, signal)
		} finally {
			if (signal.aborted) this.stats.cancelled++
			if (slot) this.#vacate(slot)
		}
	}

	async *#run(sequence, tokens, limit, signal) {
		const start = performance.now()
		const before = evaluated(sequence)
		const cached = await this.#reuse(sequence, tokens)
		let at = cached
		for (; tokens.length - at > (limit ? batch : 0); at += batch) {
			signal.throwIfAborted()
			await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(at, at + batch))
		}
		const account = () => {
			const prompt = {cached, evaluated: evaluated(sequence) - before, ms: performance.now() - start}
			this.stats.prompt_tokens += tokens.length
			this.stats.cached_tokens += cached
			this.stats.evaluated_tokens += prompt.evaluated
			this.stats.prompt_ms += prompt.ms
			return prompt
		}
		signal.throwIfAborted()
		if (!limit) return yield {text: "", prompt: account()}
		let prompt
		let last = tokens.slice(-8) // the tokenizer joins words by what is before them
		let n = 0
		for await (const token of sequence.evaluate(tokens.slice(at), {temperature: 0})) {
			prompt ??= account()
			this.stats.generated_tokens++
			yield {text: this.model.detokenize([token], false, last), prompt}
			last = [...last.slice(-7), token]
			if (++n >= limit) return
			await this.#held(n, signal)
			signal.throwIfAborted()
		}
	}

	// reuse erases from a sequence what the prompt does not begin with, and returns the number of tokens that stay. The prompt's last token
	// is evaluated in any case: the first token of the answer comes from it.
	async #reuse(sequence, tokens) {
		const have = sequence.contextTokens
		const keep = Math.min(shared(have, tokens), tokens.length - 1)
		if (keep < have.length) await sequence.eraseContextTokenRanges([{start: keep, end: have.length}])
		return keep
	}

	async #held(n, signal) {
		while (this.#hold && n >= this.#hold.after && !signal.aborted) {
			await Promise.race([this.#hold.over, new Promise(resolve => signal.addEventListener("abort", resolve, {once: true}))])
		}
	}

	// acquire returns a slot for a prompt; where all are busy it waits, first come, first served.
	async #acquire(tokens, signal) {
		signal.throwIfAborted()
		const slot = this.#choose(tokens)
		if (slot) return slot
		return new Promise((resolve, reject) => {
			const waiting = {tokens, resolve}
			this.#queue.push(waiting)
			this.stats.queued_most = Math.max(this.stats.queued_most, this.#queue.length)
			signal.addEventListener("abort", () => {
				const at = this.#queue.indexOf(waiting)
				if (at < 0) return
				this.#queue.splice(at, 1)
				reject(signal.reason)
			}, {once: true})
		})
	}

	#choose(tokens) {
		const idle = this.#slots.filter(slot => !slot.busy)
		if (idle.length === 0) return undefined
		const common = slot => shared(slot.sequence.contextTokens, tokens)
		let best = idle.reduce((a, b) => common(b) > common(a) ? b : a)
		if (common(best) < leastSimilarity * tokens.length) best = idle.reduce((a, b) => b.used < a.used ? b : a)
		best.busy = true
		return best
	}

	#vacate(slot) {
		slot.busy = false
		slot.used = ++this.#clock
		const next = this.#queue.shift()
		next?.resolve(this.#choose(next.tokens))
	}
}

// evaluated is the number of tokens that llama.cpp was given to evaluate for a sequence so far.
function evaluated(sequence) {
	const {usedInputTokens, usedOutputTokens} = sequence.tokenMeter.getState()
	return usedInputTokens + usedOutputTokens
}

// shared is the length of the longest common prefix.
function shared(a, b) {
	let n = 0
	while (n < a.length && n < b.length && a[n] === b[n]) n++
	return n
}
