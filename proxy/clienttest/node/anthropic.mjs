import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { book, calling, callingTwo, failure, kinds, naming, next, question, system, tooLong, tools } from './tasks.mjs'

const model = 'claude-sonnet-5-5'

// The library adds /v1 itself.
const connect = ({ baseURL, apiKey }, more) => new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey, ...more })

const user = (content) => ({ role: 'user', content })
const ask = (more) => ({ model, max_tokens: 1024, system, messages: [user(question)], ...more })

const whole = (site, more) => connect(site).messages.create(ask(more))

async function streamed(site, more) {
  const seen = []
  const stream = connect(site).messages.stream(ask(more))
  for await (const event of stream) seen.push(event.type)
  return { kinds: kinds(seen), message: await stream.finalMessage() }
}

async function conversation(site) {
  const one = await whole(site)
  return [one, await whole(site, { messages: [user(question), { role: 'assistant', content: one.content }, user(next)] })]
}

// loop is the library's own runner of tools. By default it keeps the conversation at the server, in a thread.
async function loop(site, more, asked = calling) {
  const calls = []
  const known = tools(calls).map(({ name, description, parameters, run }) => betaZodTool({ name, description, inputSchema: parameters, run }))
  const runner = connect(site).beta.messages.toolRunner(ask({ messages: [user(asked)], tools: known, ...more }))
  const messages = []
  for await (const message of runner) messages.push(more.stream ? await message.finalMessage() : message)
  return { calls, messages }
}

// written is a loop that an application writes itself.
async function written(site) {
  const calls = []
  const known = tools(calls)
  const messages = [user(calling)]
  for (;;) {
    const message = await whole(site, { messages, tools: known.map(({ name, description }) => ({ name, description, input_schema: schemas[name] })) })
    messages.push({ role: 'assistant', content: message.content })
    const uses = message.content.filter(({ type }) => type === 'tool_use')
    if (!uses.length) return { calls, messages }
    const results = []
    for (const { id, name, input } of uses) results.push({ type: 'tool_result', tool_use_id: id, content: await known.find((t) => t.name === name).run(input) })
    messages.push(user(results))
  }
}

const schemas = {
  weather: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 3 } }, required: ['city', 'days'] },
  distance: { type: 'object', properties: { from: { type: 'string' }, to: { type: 'string' } }, required: ['from', 'to'] },
}

const details = (err) => ({ kind: err.constructor.name, status: err.status, type: err.type, message: err.message.replace(/req_\w+/, 'req'), error: err.error, retryAfter: err.headers?.get('retry-after') })

export const scenarios = {
  plain: (site) => whole(site),
  stream: (site) => streamed(site),
  conversation,
  tools: (site) => loop(site, { thread: false }),
  'tools-stream': (site) => loop(site, { thread: false, stream: true }),
  'tools-at-once': (site) => loop(site, { thread: false }, callingTwo),
  'tools-at-once-stream': (site) => loop(site, { thread: false, stream: true }, callingTwo),
  'tools-thread': (site) => loop(site, {}),
  'tools-written': written,
  structured: async (site) => (await connect(site).messages.parse(ask({ messages: [user(naming)], output_config: { format: zodOutputFormat(book) } }))).parsed_output,
  unauthorized: (site) => failure(whole(site), details),
  'unknown-model': (site) => failure(whole(site, { model: 'nothing' }), details),
  'rate-limit': (site) => failure(connect(site, { maxRetries: 0 }).messages.create(ask()), details),
  retried: (site) => whole(site),
  'too-long': (site) => failure(whole(site, { messages: [user(tooLong)] }), details),
}
