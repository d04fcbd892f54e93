import OpenAI from 'openai'
import { z } from 'zod'
import { book, completer, embedder, failure, kinds, model, parameters } from './asks.mjs'
import * as tasks from './tasks.mjs'

const connect = (site) => new OpenAI({ ...site, maxRetries: 0 })

const ask = (text, more) => ({ model, messages: [{ role: 'user', content: text }], ...more })

const weather = { type: 'function', function: { name: 'weather', parameters, strict: true } }
const calling = ask('Please call tool.', { tools: [weather] })
const format = { type: 'json_schema', json_schema: { name: 'book', schema: book, strict: true } }

const whole = (site, params) => connect(site).chat.completions.create(params)

// streamed reads a chat stream chunk by chunk.
async function streamed(site, params) {
  const got = { text: '', finish: [], usage: [] }
  for await (const chunk of await whole(site, { ...params, stream: true })) {
    for (const choice of chunk.choices) {
      got.text += choice.delta.content ?? ''
      if (choice.finish_reason) got.finish.push(choice.finish_reason)
    }
    if (chunk.usage) got.usage.push(chunk.usage)
    got.model = chunk.model
  }
  return got
}

// summed reads a stream with the accumulator of the client library.
const summed = (site, params) => connect(site).chat.completions.stream(params).finalChatCompletion()

async function conversation(site) {
  const first = ask('What is a delta?')
  const one = await whole(site, first)
  const messages = [...first.messages, one.choices[0].message, { role: 'user', content: 'Where is one?' }]
  return [one, await whole(site, { ...first, messages })]
}

async function toolLoop(site) {
  const asked = []
  const weatherHere = { ...weather.function, parse: JSON.parse, function: (args) => { asked.push(args); return 'sunny' } }
  const runner = connect(site).chat.completions.runTools({ ...calling, tools: [{ type: 'function', function: weatherHere }] })
  return { asked, said: await runner.finalContent() }
}

// steps is a loop of several calls, done by the library.
async function steps(site, stream) {
  const calls = []
  const tools = tasks.tools(calls).map(({ name, description, parameters, run }) => ({ type: 'function', function: { name, description, parameters: z.toJSONSchema(parameters), parse: JSON.parse, function: run } }))
  const runner = connect(site).chat.completions.runTools({ ...ask(tasks.calling), tools, stream })
  await runner.done()
  return { calls, messages: runner.messages, usage: await runner.totalUsage() }
}

// responseSteps is such a loop. Its conversation is sent with each request, or kept at the server.
async function responseSteps(site, atServer, model) {
  const client = connect(site)
  const calls = []
  const known = tasks.tools(calls)
  const tools = known.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters: z.toJSONSchema(parameters), strict: true }))
  const answers = []
  for (let input = [{ role: 'user', content: tasks.calling }], previous_response_id; ;) {
    const answer = await client.responses.create({ model, input, tools, previous_response_id })
    answers.push(answer)
    const asked = answer.output.filter(({ type }) => type === 'function_call')
    if (!asked.length) return { calls, answers }
    if (atServer) [input, previous_response_id] = [[], answer.id]
    else input.push(...answer.output)
    for (const { call_id, name, arguments: args } of asked) {
      input.push({ type: 'function_call_output', call_id, output: await known.find((t) => t.name === name).run(JSON.parse(args)) })
    }
  }
}

const toolResult = ask('Please call tool.', {
  tools: [weather],
  messages: [
    { role: 'user', content: 'Please call tool.' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome","days":3}' } }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ],
})

async function completionStream(site) {
  const got = { text: '', finish: [] }
  for await (const chunk of await connect(site).completions.create({ model: completer, prompt: 'Once upon a time', stream: true })) {
    got.text += chunk.choices[0].text
    if (chunk.choices[0].finish_reason) got.finish.push(chunk.choices[0].finish_reason)
  }
  return got
}

async function responseStream(site, params) {
  const events = []
  const stream = connect(site).responses.stream(params)
  for await (const event of stream) events.push(event.type)
  return { kinds: kinds(events), final: await stream.finalResponse() }
}

async function previousResponse(site, next) {
  const client = connect(site)
  const one = await client.responses.create({ model, input: 'What is a delta?' })
  return [one, await next(client, one.id)]
}

const responseTool = { model, input: 'Please call tool.', tools: [{ ...weather.function, type: 'function' }] }

// details is the part of an error that an application would use.
const details = (err) => ({
  kind: err.constructor.name, status: err.status, code: err.code, type: err.type, param: err.param, message: err.message,
  retryAfter: err.headers?.get('retry-after'),
})

// broken is the part of an error of a cut connection: that there is one, because the text is that of the transport.
const broken = () => ({ thrown: true })

// abort leaves a stream after its first chunk.
async function abort(site) {
  const control = new AbortController()
  const stream = await connect(site).chat.completions.create(ask('What is rain?', { stream: true }), { signal: control.signal })
  for await (const chunk of stream) {
    control.abort()
    return { saw: chunk.object }
  }
}

const rain = ask('What is rain?')

export const scenarios = {
  'chat': (site) => whole(site, rain),
  'chat-stream': (site) => streamed(site, rain),
  'chat-stream-usage': (site) => streamed(site, { ...rain, stream_options: { include_usage: true } }),
  'chat-stream-summed': (site) => summed(site, rain),
  'stream-then-whole': async (site) => [await summed(site, rain), await whole(site, rain)],
  'whole-then-stream': async (site) => [await whole(site, rain), await summed(site, rain)],
  'conversation': conversation,
  'tools': (site) => whole(site, calling),
  'tools-stream': (site) => summed(site, calling),
  'tool-result': (site) => whole(site, toolResult),
  'tool-loop': toolLoop,
  'steps': (site) => steps(site, false),
  'steps-stream': (site) => steps(site, true),
  'response-steps': (site) => responseSteps(site, false, model),
  'steps-at-server': (site) => responseSteps(site, true, model),
  'reasoning': (site) => responseSteps(site, false, tasks.reasoning),
  'reasoning-at-server': (site) => responseSteps(site, true, tasks.reasoning),
  'structured': (site) => connect(site).chat.completions.parse(ask('Name a book.', { response_format: format })),
  'structured-stream': (site) => summed(site, ask('Name a book.', { response_format: format })),
  'completion': (site) => connect(site).completions.create({ model: completer, prompt: 'Once upon a time' }),
  'completion-stream': completionStream,
  'response': (site) => connect(site).responses.create({ model, input: 'What is a delta?' }),
  'response-stream': (site) => responseStream(site, { model, input: 'What is a delta?' }),
  'response-structured': (site) => connect(site).responses.parse({ model, input: 'Name a book.', text: { format: { type: 'json_schema', name: 'book', schema: book, strict: true } } }),
  'response-tools': (site) => connect(site).responses.create(responseTool),
  'response-tools-stream': (site) => responseStream(site, responseTool),
  'previous-response': (site) => previousResponse(site, (client, id) => client.responses.create({ model, input: 'Where is one?', previous_response_id: id })),
  'retrieve-response': (site) => previousResponse(site, (client, id) => client.responses.retrieve(id)),
  'embedding': (site) => connect(site).embeddings.create({ model: embedder, input: ['the red car', 'a delta'], dimensions: 8, encoding_format: 'float' }),
  'embedding-base64': (site) => connect(site).embeddings.create({ model: embedder, input: 'the red car', dimensions: 8 }), // the client requests base64 by default
  'models': async (site) => (await connect(site).models.list()).data,
  'bad-request': (site) => failure(whole(site, ask('x', { top_logprobs: 30 })), details),
  'unknown-model': (site) => failure(whole(site, ask('x', { model: 'nothing' })), details),
  'unauthorized': (site) => failure(whole(site, ask('x')), details),
  'rate-limit': (site) => failure(whole(site, ask('x')), details),
  'rate-limit-stream': (site) => failure(streamed(site, ask('x')), details),
  'error-in-stream': (site) => failure(streamed(site, rain), details),
  'cut-answer': (site) => failure(whole(site, rain), broken),
  'cut-stream': (site) => failure(streamed(site, rain), broken),
  'cut-response-stream': (site) => failure(responseStream(site, { model, input: 'What is a delta?' }), broken),
  'abort': abort,
}
