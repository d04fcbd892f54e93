// An OpenAI-compatible server on a llama.cpp engine, for tests. Its answers have the form of those of llama.cpp's own server, and fields
// that it does not support are ignored as there. Further paths:
//
//	GET /health      200, or 503 while the model is loaded
//	GET /stats       what was evaluated so far, and the slots
//	PUT /hold?n=3    answers pause after three tokens, until DELETE /hold
import {createServer} from "node:http"
import {parseArgs} from "node:util"
import {Engine} from "./engine.mjs"

const {values: options} = parseArgs({options: {
	modules: {type: "string"}, model: {type: "string"}, name: {type: "string", default: "random"}, port: {type: "string", default: "0"},
	slots: {type: "string", default: "4"}, context: {type: "string", default: "4096"}, threads: {type: "string", default: "1"},
	answer: {type: "string", default: "0"}, // tokens after which an answer is complete: a model with random weights never ends one; 0: no end
}})

// Refusal is an error that is the answer to a request.
class Refusal extends Error {
	constructor(status, type, message) {
		super(message)
		Object.assign(this, {status, body: {error: {code: status, message, type}}})
	}
}

const invalid = message => new Refusal(400, "invalid_request_error", message)

let engine // undefined while it is loaded
let requests = 0

const routes = {
	"GET /health": (_, response) => send(response, 200, {status: "ok"}),
	"GET /v1/models": (_, response) => send(response, 200, {object: "list", data: [{id: options.name, object: "model", created: 0, owned_by: "llamacpp"}]}),
	"GET /stats": (_, response) => send(response, 200, {...engine.stats, queued: engine.queued, slots: engine.slots()}),
	"PUT /hold": (request, response) => {
		engine.hold(Number(new URL(request.url, "http://host").searchParams.get("n")))
		send(response, 200, {})
	},
	"DELETE /hold": (_, response) => {
		engine.release()
		send(response, 200, {})
	},
	"POST /v1/chat/completions": async (request, response) => {
		const body = await read(request)
		await answer(body, render(body), chatForm, response)
	},
	"POST /v1/completions": async (request, response) => {
		const body = await read(request)
		const prompt = Array.isArray(body.prompt) && body.prompt.length === 1 ? body.prompt[0] : body.prompt
		if (typeof prompt !== "string") throw invalid("'prompt' must be a string")
		await answer(body, prompt, textForm, response)
	},
}

async function read(request) {
	const parts = []
	for await (const part of request) parts.push(part)
	let body
	try {
		body = JSON.parse(Buffer.concat(parts))
	} catch (error) {
		throw invalid(`the body is no JSON: ${error.message}`)
	}
	if (body === null || typeof body !== "object" || Array.isArray(body)) throw invalid("the body is no object")
	return body
}

// render is the chat template: tools, then the messages, then the beginning of the answer. A conversation's next request begins with the
// text of this one and its answer.
function render({messages, tools}) {
	if (!Array.isArray(messages) || messages.length === 0) throw invalid("'messages' must be a list with messages")
	const lines = tools ? [`tools:${JSON.stringify(tools)}\n`] : []
	for (const {role, content, tool_calls: calls} of messages) {
		if (typeof role !== "string") throw invalid("a message needs a role")
		const text = Array.isArray(content) ? content.map(part => part.text ?? "").join("") : content ?? ""
		lines.push(`${role}:${text}${calls ? JSON.stringify(calls) : ""}\n`)
	}
	return `${lines.join("")}assistant:`
}

// The forms of answers. Each has the kind of id, the names of objects, the choice of a whole answer and that of one piece.
const chatForm = {
	prefix: "chatcmpl-", whole: "chat.completion", piece: "chat.completion.chunk",
	choice: (text, finish) => ({index: 0, message: {role: "assistant", content: text}, finish_reason: finish}),
	delta: (text, first, finish) => ({index: 0, delta: finish ? {} : {...first && {role: "assistant"}, content: text}, finish_reason: finish}),
}
const textForm = {
	prefix: "cmpl-", whole: "text_completion", piece: "text_completion",
	choice: (text, finish) => ({index: 0, text, logprobs: null, finish_reason: finish}),
	delta: (text, _, finish) => ({index: 0, text: finish ? "" : text, logprobs: null, finish_reason: finish}),
}

async function answer(body, prompt, form, response) {
	const tokens = engine.tokenize(prompt)
	const {limit, finish} = bounds(body, tokens)
	const left = new AbortController()
	response.on("close", () => left.abort())
	const head = {id: `${form.prefix}${++requests}`, created: Math.floor(Date.now() / 1000), model: body.model ?? options.name}
	const chunk = (choices, more) => response.write(`data: ${JSON.stringify({...head, object: form.piece, choices, ...more})}\n\n`)
	let text = ""
	let usage
	let n = 0
	for await (const step of engine.generate(tokens, limit, left.signal)) {
		if (body.stream) {
			if (!usage) response.writeHead(200, {"Content-Type": "text/event-stream"})
			chunk([form.delta(step.text, !usage, null)])
		}
		if (limit) n++
		text += step.text
		usage = used(tokens, n, step.prompt)
	}
	if (!body.stream) return send(response, 200, {...head, object: form.whole, choices: [form.choice(text, finish)], ...usage})
	chunk([form.delta("", false, finish)], {timings: usage.timings})
	if (body.stream_options?.include_usage) chunk([], usage)
	response.end("data: [DONE]\n\n")
}

// bounds is the number of tokens that the answer gets, and why it ends there.
function bounds(body, tokens) {
	if ((body.n ?? 1) !== 1) throw invalid("'n' must be 1")
	const left = engine.room - tokens.length
	if (left < 1) {
		throw new Refusal(400, "exceed_context_size_error", `the prompt has ${tokens.length} tokens, and a slot has room for ${engine.room} with the answer`)
	}
	const asked = body.max_completion_tokens ?? body.max_tokens ?? body.n_predict ?? -1
	if (!Number.isInteger(asked)) throw invalid("'max_tokens' must be a whole number")
	const longest = Math.min(left, asked < 0 ? left : asked)
	const complete = Number(options.answer)
	return complete && complete <= longest ? {limit: complete, finish: "stop"} : {limit: longest, finish: "length"}
}

function used(tokens, generated, prompt) {
	return {
		usage: {
			prompt_tokens: tokens.length, completion_tokens: generated, total_tokens: tokens.length + generated,
			prompt_tokens_details: {cached_tokens: prompt.cached},
		},
		timings: {cache_n: prompt.cached, prompt_n: prompt.evaluated, prompt_ms: prompt.ms, predicted_n: generated},
	}
}

function send(response, status, body) {
	response.writeHead(status, {"Content-Type": "application/json"})
	response.end(JSON.stringify(body))
}

async function handle(request, response) {
	try {
		if (!engine) throw new Refusal(503, "unavailable_error", "Loading model")
		const route = routes[`${request.method} ${new URL(request.url, "http://host").pathname}`]
		if (!route) throw new Refusal(404, "not_found_error", "File Not Found")
		await route(request, response)
	} catch (error) {
		if (response.destroyed || response.closed) return // the client has left
		if (response.headersSent) return response.destroy(error)
		if (error instanceof Refusal) return send(response, error.status, error.body)
		console.error(error)
		send(response, 500, {error: {code: 500, message: String(error), type: "server_error"}})
	}
}

const server = createServer(handle)
server.keepAliveTimeout = 0 // a connection that the server closes can cost a request that is sent on it at this moment
server.requestTimeout = 0
server.listen(Number(options.port), "127.0.0.1", async () => {
	engine = await Engine.load({...options, slots: Number(options.slots), context: Number(options.context), threads: Number(options.threads)})
	console.log(JSON.stringify({port: server.address().port})) // it is ready
})

// It ends with the process that has started it, also where that was killed.
process.stdin.resume()
process.stdin.on("close", () => process.exit())
