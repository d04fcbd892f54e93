import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { book, calling, callingTwo, details, failure, kinds, model, naming, next, question, reasoning, system, tooLong, tools } from './tasks.mjs'

// runner has no traces: they would be sent to OpenAI.
const runner = (site, more) => new Runner({ modelProvider: new OpenAIProvider({ ...site, ...more }), tracingDisabled: true })
const guide = (more) => new Agent({ name: 'Guide', instructions: system, model, ...more })

const said = ({ finalOutput, lastResponseId, history, rawResponses }) => ({ finalOutput, response_id: lastResponseId, history, usage: rawResponses.map(({ usage }) => usage) })

const run = async (site, agent, input, more) => said(await runner(site, more).run(agent, input))

async function streamed(site, agent, input, more) {
  const r = await runner(site, more).run(agent, input, { stream: true })
  const seen = []
  for await (const event of r) seen.push(event.type === 'run_item_stream_event' ? event.name : event.type)
  await r.completed
  return { ...said(r), kinds: kinds(seen) }
}

async function conversation(site) {
  const one = await runner(site).run(guide(), question)
  return [said(one), await run(site, guide(), [...one.history, { role: 'user', content: next }])]
}

// atServer is a conversation that the server keeps.
async function atServer(site) {
  const one = await runner(site).run(guide(), question)
  return [said(one), said(await runner(site).run(guide(), next, { previousResponseId: one.lastResponseId }))]
}

async function loop(site, run, more, asked = calling, model) {
  const calls = []
  const known = tools(calls).map(({ name, description, parameters, run }) => tool({ name, description, parameters, execute: run }))
  return { said: await run(site, guide({ tools: known, ...(model && { model }) }), asked, more), calls }
}

// handoff is an agent that passes the conversation on to another, by the call of a tool.
async function handoff(site) {
  const other = guide({ name: 'Other', handoffDescription: 'knows rivers' })
  return run(site, guide({ handoffs: [other] }), 'Please call tool.')
}

const chat = { useResponses: false }

export const scenarios = {
  plain: (site) => run(site, guide(), question),
  stream: (site) => streamed(site, guide(), question),
  conversation,
  'steps-at-server': atServer,
  tools: (site) => loop(site, run),
  'tools-stream': (site) => loop(site, streamed),
  'tools-at-once': (site) => loop(site, run, {}, callingTwo),
  'tools-at-once-stream': (site) => loop(site, streamed, {}, callingTwo),
  'chat-tools-at-once': (site) => loop(site, run, chat, callingTwo),
  reasoning: (site) => loop(site, run, {}, calling, reasoning),
  'reasoning-stream': (site) => loop(site, streamed, {}, calling, reasoning),
  handoff,
  structured: (site) => run(site, guide({ outputType: book }), naming),
  chat: (site) => run(site, guide(), question, chat),
  'chat-stream': (site) => streamed(site, guide(), question, chat),
  'chat-tools': (site) => loop(site, run, chat),
  'chat-tools-stream': (site) => loop(site, streamed, chat),
  'chat-structured': (site) => run(site, guide({ outputType: book }), naming, chat),
  unauthorized: (site) => failure(run(site, guide(), question), details),
  'unknown-model': (site) => failure(run(site, guide({ model: 'nothing' }), question), details),
  'rate-limit': (site) => failure(run(site, guide(), question, { apiKey: undefined, baseURL: undefined, openAIClient: new OpenAI({ ...site, maxRetries: 0 }) }), details),
  retried: (site) => run(site, guide(), question),
  'too-long': (site) => failure(run(site, guide(), tooLong), details),
}
