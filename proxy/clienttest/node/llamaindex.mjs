import { tool } from '@llamaindex/core/tools'
import { OpenAI, OpenAIEmbedding, OpenAIResponses } from '@llamaindex/openai'
import { agent, agentStreamEvent, agentToolCallEvent } from '@llamaindex/workflow'
import { book, calling, callingTwo, details, embedder, failure, model, naming, next, question, system, texts, tooLong, tools } from './tasks.mjs'

const connect = (site, more) => new OpenAI({ ...site, model, ...more })
const responses = (site, more) => new OpenAIResponses({ ...site, model, ...more })

const user = (content) => ({ role: 'user', content })
const messages = [{ role: 'system', content: system }, user(question)]

const said = ({ message, raw }) => ({ message, usage: raw?.usage, finish: raw?.choices?.[0].finish_reason })

async function streamed(llm) {
  let text = ''
  for await (const { delta } of await llm.chat({ messages, stream: true })) text += delta
  return text
}

async function conversation(site) {
  const llm = connect(site)
  const one = await llm.chat({ messages })
  return [said(one), said(await llm.chat({ messages: [...messages, one.message, user(next)] }))]
}

const known = (calls) => tools(calls).map(({ name, description, parameters, run }) => tool({ name, description, parameters, execute: run }))

// loop is the framework's agent, which streams its requests.
async function loop(llm) {
  const calls = []
  const seen = []
  let text = ''
  const events = agent({ llm, tools: known(calls), systemPrompt: system }).runStream(calling)
  for await (const event of events) {
    if (agentToolCallEvent.include(event)) seen.push(event.data)
    if (agentStreamEvent.include(event)) text += event.data.delta
  }
  return { calls, seen, text }
}

const ended = async (llm, asked = calling) => {
  const calls = []
  const { data } = await agent({ llm, tools: known(calls), systemPrompt: system }).run(asked)
  return { calls, result: data.result, messages: data.state?.memory?.messages }
}

export const scenarios = {
  plain: async (site) => said(await connect(site).chat({ messages })),
  stream: (site) => streamed(connect(site)),
  conversation,
  tools: (site) => ended(connect(site)),
  'tools-stream': (site) => loop(connect(site)),
  'tools-at-once': (site) => ended(connect(site), callingTwo),
  structured: async (site) => said(await connect(site).chat({ messages: [user(naming)], responseFormat: book })),
  'structured-object': async (site) => (await connect(site).exec({ messages: [user(naming)], responseFormat: book })).object,
  response: async (site) => said(await responses(site).chat({ messages })),
  'response-stream': (site) => streamed(responses(site)),
  'response-tools': (site) => ended(responses(site)),
  embeddings: (site) => new OpenAIEmbedding({ ...site, model: embedder, dimensions: 8 }).getTextEmbeddings(texts),
  unauthorized: (site) => failure(connect(site).chat({ messages }), details),
  'unknown-model': (site) => failure(connect(site, { model: 'nothing' }).chat({ messages }), details),
  'rate-limit': (site) => failure(connect(site, { maxRetries: 0 }).chat({ messages }), details),
  retried: async (site) => said(await connect(site).chat({ messages })),
  'too-long': (site) => failure(connect(site).chat({ messages: [user(tooLong)] }), details),
}
