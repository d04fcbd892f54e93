import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { book, calling, callingTwo, details, failure, model, naming, next, question, system, tooLong, tools } from './tasks.mjs'

// guide has the framework's own client of an engine with OpenAI's API, given by its URL.
const guide = ({ baseURL, apiKey }, more, name = model) => new Agent({ id: 'guide', name: 'Guide', instructions: system, model: { id: `engine/${name}`, url: baseURL, apiKey }, ...more })

const said = ({ text, usage, totalUsage, finishReason, steps, object }) => ({
  text, usage, totalUsage, finishReason, object,
  steps: steps.map(({ text, toolCalls, toolResults }) => ({ text, calls: toolCalls.map(({ payload }) => payload), results: toolResults.map(({ payload }) => payload) })),
})

const whole = async (agent, input, more) => said(await agent.generate(input, more))

async function streamed(agent, input, more) {
  const r = await agent.stream(input, more)
  let text = ''
  for await (const part of r.textStream) text += part
  const error = await r.error
  if (error) throw error
  const end = {}
  for (const key of ['usage', 'totalUsage', 'finishReason', 'steps', 'object']) end[key] = await r[key]
  return { ...said(end), text }
}

async function conversation(site) {
  const messages = [{ role: 'user', content: question }]
  const agent = guide(site)
  const one = await agent.generate(messages)
  return [said(one), await whole(agent, [...messages, ...one.response.messages, { role: 'user', content: next }])]
}

async function loop(site, run, asked = calling) {
  const calls = []
  const known = Object.fromEntries(tools(calls).map(({ name, description, parameters, run }) => [name, createTool({ id: name, description, inputSchema: parameters, execute: (input) => run(input) })]))
  return { said: await run(guide(site, { tools: known }), asked), calls }
}

export const scenarios = {
  plain: (site) => whole(guide(site), question),
  stream: (site) => streamed(guide(site), question),
  conversation,
  tools: (site) => loop(site, whole),
  'tools-stream': (site) => loop(site, streamed),
  'tools-at-once': (site) => loop(site, whole, callingTwo),
  'tools-at-once-stream': (site) => loop(site, streamed, callingTwo),
  structured: (site) => whole(guide(site), naming, { structuredOutput: { schema: book } }),
  unauthorized: (site) => failure(whole(guide(site), question), details),
  'unknown-model': (site) => failure(whole(guide(site, {}, 'nothing'), question), details),
  'rate-limit': (site) => failure(whole(guide(site), question, { modelSettings: { maxRetries: 0 } }), details),
  retried: (site) => whole(guide(site, { maxRetries: 2 }), question), // none by default
  'too-long': (site) => failure(whole(guide(site), tooLong), details),
}
