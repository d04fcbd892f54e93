import { createOpenAI } from '@ai-sdk/openai'
import { embedMany, generateObject, generateText, isStepCount, jsonSchema, Output, streamObject, streamText, tool } from 'ai'
import { book, completer, embedder, failure, kinds, model, parameters } from './asks.mjs'
import * as tasks from './tasks.mjs'

const chat = (site) => createOpenAI(site).chat(model)
const responses = (site) => createOpenAI(site).responses(model)
const completion = (site) => createOpenAI(site).completion(completer)

const ask = (through, prompt, more) => ({ model: through, prompt, maxRetries: 0, ...more })

// said is the part of an answer that an application would use.
const said = (r) => ({
  text: r.text, finish: r.finishReason, usage: r.usage, total: r.totalUsage,
  calls: r.toolCalls.map(({ toolName, input }) => ({ toolName, input })),
  model: r.response.modelId, metadata: r.providerMetadata, steps: r.steps.length,
})

const whole = async (...args) => said(await generateText(ask(...args)))

// streamed throws the error parts of a stream.
async function streamed(...args) {
  const r = streamText({ ...ask(...args), onError() {} })
  const parts = []
  for await (const part of r.fullStream) {
    if (part.type === 'error') throw part.error
    parts.push(part.type)
  }
  const end = {}
  for (const key of ['text', 'finishReason', 'usage', 'totalUsage', 'toolCalls', 'response', 'providerMetadata', 'steps']) end[key] = await r[key]
  return { kinds: kinds(parts), ...said(end) }
}

const weather = { weather: tool({ inputSchema: jsonSchema(parameters) }) }

async function toolLoop(site) {
  const asked = []
  const here = { weather: tool({ inputSchema: jsonSchema(parameters), execute: (input) => { asked.push(input); return 'sunny' } }) }
  return { asked, said: await whole(chat(site), 'Please call tool.', { tools: here, stopWhen: isStepCount(3) }) }
}

// steps is a loop of several calls.
async function steps(through, run) {
  const calls = []
  const tools = Object.fromEntries(tasks.tools(calls).map(({ name, description, parameters, run }) => [name, tool({ description, inputSchema: parameters, execute: run })]))
  return { calls, said: await run(through, tasks.calling, { tools, stopWhen: isStepCount(5) }) }
}

const toolResult = {
  prompt: undefined,
  tools: weather,
  messages: [
    { role: 'user', content: 'Please call tool.' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: { city: 'Rome', days: 3 } }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'weather', output: { type: 'text', value: 'sunny' } }] },
  ],
}

async function conversation(through) {
  const first = [{ role: 'user', content: 'What is a delta?' }]
  const one = await generateText(ask(through, undefined, { messages: first }))
  const messages = [...first, ...one.response.messages, { role: 'user', content: 'Where is one?' }]
  return [said(one), await whole(through, undefined, { messages })]
}

async function structured(through) {
  const r = await generateText(ask(through, 'Name a book.', { output: Output.object({ schema: jsonSchema(book) }) }))
  return { output: r.output, ...said(r) }
}

async function object(through) {
  const { object, finishReason, usage } = await generateObject(ask(through, 'Name a book.', { schema: jsonSchema(book) }))
  return { object, finishReason, usage }
}

async function objectStream(through) {
  const r = streamObject(ask(through, 'Name a book.', { schema: jsonSchema(book) }))
  for await (const _ of r.partialObjectStream);
  return { object: await r.object, usage: await r.usage }
}

async function previousResponse(site) {
  const one = await generateText(ask(responses(site), 'What is a delta?'))
  const openai = { previousResponseId: one.providerMetadata.openai.responseId }
  return [said(one), await whole(responses(site), 'Where is one?', { providerOptions: { openai } })]
}

const details = (err) => ({
  kind: err.name, status: err.statusCode, message: err.message, data: err.data, body: err.responseBody, retryable: err.isRetryable,
  retryAfter: err.responseHeaders?.['retry-after'],
})

const broken = () => ({ thrown: true })

async function abort(site) {
  const control = new AbortController()
  const r = streamText({ ...ask(chat(site), 'What is rain?', { abortSignal: control.signal }), onError() {} })
  const parts = []
  for await (const part of r.fullStream) {
    parts.push(part.type)
    if (part.type === 'text-delta') control.abort()
  }
  return kinds(parts)
}

const rain = 'What is rain?'

export const scenarios = {
  'chat': (site) => whole(chat(site), rain),
  'chat-stream-usage': (site) => streamed(chat(site), rain), // the client requests usage by default
  'stream-then-whole': async (site) => [await streamed(chat(site), rain), await whole(chat(site), rain)],
  'whole-then-stream': async (site) => [await whole(chat(site), rain), await streamed(chat(site), rain)],
  'conversation': (site) => conversation(chat(site)),
  'tools': (site) => whole(chat(site), 'Please call tool.', { tools: weather }),
  'tools-stream': (site) => streamed(chat(site), 'Please call tool.', { tools: weather }),
  'tool-result': (site) => whole(chat(site), undefined, toolResult),
  'tool-loop': toolLoop,
  'steps': (site) => steps(chat(site), whole),
  'steps-stream': (site) => steps(chat(site), streamed),
  'response-steps': (site) => steps(responses(site), whole),
  'response-steps-stream': (site) => steps(responses(site), streamed),
  'reasoning': (site) => steps(createOpenAI(site)(tasks.reasoning), whole),
  'reasoning-stream': (site) => steps(createOpenAI(site)(tasks.reasoning), streamed),
  'response-conversation': (site) => conversation(responses(site)),
  'structured': (site) => structured(chat(site)),
  'structured-stream': (site) => objectStream(chat(site)),
  'completion': (site) => whole(completion(site), 'Once upon a time'),
  'completion-stream': (site) => streamed(completion(site), 'Once upon a time'),
  'response': (site) => whole(responses(site), 'What is a delta?'),
  'response-stream': (site) => streamed(responses(site), 'What is a delta?'),
  'response-structured': (site) => object(responses(site)),
  'response-tools': (site) => whole(responses(site), 'Please call tool.', { tools: weather }),
  'response-tools-stream': (site) => streamed(responses(site), 'Please call tool.', { tools: weather }),
  'previous-response': previousResponse,
  'embedding': async (site) => {
    const r = await embedMany({ model: createOpenAI(site).embeddingModel(embedder), values: ['the red car', 'a delta'], maxRetries: 0 })
    return { embeddings: r.embeddings, usage: r.usage }
  },
  'bad-request': (site) => failure(whole(chat(site), 'x', { providerOptions: { openai: { topLogprobs: 30, logprobs: 30 } } }), details),
  'unknown-model': (site) => failure(whole(createOpenAI(site).chat('nothing'), 'x'), details),
  'unauthorized': (site) => failure(whole(chat(site), 'x'), details),
  'rate-limit': (site) => failure(whole(chat(site), 'x'), details),
  'rate-limit-stream': (site) => failure(streamed(chat(site), 'x'), details),
  'error-in-stream': (site) => failure(streamed(chat(site), rain), details),
  'cut-answer': (site) => failure(whole(chat(site), rain), broken),
  'cut-stream': (site) => failure(streamed(chat(site), rain), broken),
  'cut-response-stream': (site) => failure(streamed(responses(site), 'What is a delta?'), broken),
  'abort': abort,
}
