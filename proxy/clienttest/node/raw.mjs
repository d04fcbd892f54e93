// HTTP requests without a library.
import { calling, callingTwo, embedder, kinds, model, next, question, system, texts, tooLong, tools } from './tasks.mjs'
import { book } from './asks.mjs'
import { z } from 'zod'

async function post(site, path, body) {
  const r = await fetch(`${site.baseURL}/${path}`, {
    method: 'POST', body: JSON.stringify(body), headers: { authorization: `Bearer ${site.apiKey}`, 'content-type': 'application/json' },
  })
  return { status: r.status, retryAfter: r.headers.get('retry-after'), type: r.headers.get('content-type'), text: await r.text() }
}

const chat = async (site, body) => {
  const { text, ...head } = await post(site, 'chat/completions', { model, messages: [{ role: 'system', content: system }, { role: 'user', content: question }], ...body })
  return { ...head, body: JSON.parse(text) }
}

// events are the data of a stream, which ends with the given line.
function events(text, end) {
  const data = text.split('\n\n').filter(Boolean).map((event) => event.split('\n').find((line) => line.startsWith('data: ')).slice(6))
  if (end && data.pop() !== end) throw new Error(`the stream does not end with ${end}`)
  return data.map(JSON.parse)
}

async function stream(site) {
  const { text, ...head } = await post(site, 'chat/completions', { model, messages: [{ role: 'user', content: question }], stream: true })
  const deltas = events(text, '[DONE]')
  return { ...head, text: deltas.map((e) => e.choices[0]?.delta.content ?? '').join(''), finish: deltas.at(-1).choices[0].finish_reason }
}

async function loop(site, asked = calling) {
  const calls = []
  const known = tools(calls)
  const messages = [{ role: 'user', content: asked }]
  for (;;) {
    const { body } = await chat(site, { messages, tools: known.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters: z.toJSONSchema(parameters) } })) })
    const { message } = body.choices[0]
    messages.push(message)
    if (!message.tool_calls) return { calls, messages }
    for (const { id, function: f } of message.tool_calls) {
      const content = await known.find(({ name }) => name === f.name).run(JSON.parse(f.arguments))
      messages.push({ role: 'tool', tool_call_id: id, content })
    }
  }
}

async function responsesLoop(site, asked = calling) {
  const calls = []
  const known = tools(calls)
  const input = [{ role: 'user', content: asked }]
  for (;;) {
    const { text } = await post(site, 'responses', { model, input, tools: known.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters: z.toJSONSchema(parameters) })) })
    const { output } = JSON.parse(text)
    input.push(...output)
    const uses = output.filter(({ type }) => type === 'function_call')
    if (!uses.length) return { calls, input }
    for (const { call_id, name, arguments: args } of uses) {
      input.push({ type: 'function_call_output', call_id, output: await known.find((t) => t.name === name).run(JSON.parse(args)) })
    }
  }
}

async function conversation(site) {
  const messages = [{ role: 'user', content: question }]
  const one = await chat(site, { messages })
  return [one, await chat(site, { messages: [...messages, one.body.choices[0].message, { role: 'user', content: next }] })]
}

async function responseStream(site) {
  const { text, ...head } = await post(site, 'responses', { model, input: question, stream: true })
  const all = events(text)
  return { ...head, kinds: kinds(all.map(({ type }) => type)), last: all.at(-1).response }
}

export const scenarios = {
  plain: (site) => chat(site),
  stream,
  conversation,
  tools: (site) => loop(site),
  'tools-at-once': (site) => loop(site, callingTwo),
  structured: (site) => chat(site, { response_format: { type: 'json_schema', json_schema: { name: 'book', strict: true, schema: book } } }),
  json: (site) => chat(site, { response_format: { type: 'json_object' } }),
  response: (site) => post(site, 'responses', { model, input: question }).then(({ text }) => JSON.parse(text)),
  'response-stream': responseStream,
  'response-tools': (site) => responsesLoop(site),
  'response-tools-at-once': (site) => responsesLoop(site, callingTwo),
  embeddings: (site) => post(site, 'embeddings', { model: embedder, input: texts, dimensions: 8 }).then(({ text }) => JSON.parse(text)),
  unauthorized: (site) => chat(site),
  'unknown-model': (site) => chat(site, { model: 'nothing' }),
  'rate-limit': (site) => chat(site),
  'too-long': (site) => chat(site, { messages: [{ role: 'user', content: tooLong }] }),
}
