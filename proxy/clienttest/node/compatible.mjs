import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embedMany, generateObject, generateText, isStepCount, Output, streamObject, streamText, tool } from 'ai'
import { book, calling, callingTwo, embedder, failure, model, naming, next, question, system, texts, tooLong, tools } from './tasks.mjs'

const provider = (site) => createOpenAICompatible({ name: 'engine', supportsStructuredOutputs: true, ...site })
const ask = (site, more) => ({ model: provider(site)(model), system, prompt: question, ...more })

const said = (r) => ({
  text: r.text, finish: r.finishReason, usage: r.totalUsage, id: r.response.id, model: r.response.modelId,
  steps: r.steps.map(({ toolCalls, toolResults, text, usage }) => ({ calls: toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })), results: toolResults.map(({ toolCallId, output }) => ({ toolCallId, output })), text, usage })),
})

const whole = async (...args) => said(await generateText(ask(...args)))

async function streamed(...args) {
  const r = streamText({ ...ask(...args), onError() {} })
  for await (const part of r.fullStream) if (part.type === 'error') throw part.error
  const end = {}
  for (const key of ['text', 'finishReason', 'totalUsage', 'response', 'steps']) end[key] = await r[key]
  return said(end)
}

async function conversation(site) {
  const messages = [{ role: 'user', content: question }]
  const one = await generateText({ model: provider(site)(model), messages })
  return [said(one), await whole(site, { prompt: undefined, messages: [...messages, ...one.response.messages, { role: 'user', content: next }] })]
}

async function loop(site, run, prompt = calling) {
  const calls = []
  const known = Object.fromEntries(tools(calls).map(({ name, description, parameters, run }) => [name, tool({ description, inputSchema: parameters, execute: run })]))
  return { said: await run(site, { prompt, tools: known, stopWhen: isStepCount(5) }), calls }
}

async function objectStream(site) {
  const r = streamObject(ask(site, { prompt: naming, schema: book }))
  for await (const _ of r.partialObjectStream);
  return { object: await r.object, usage: await r.usage }
}

const details = (err) => ({
  kind: err.name, status: err.statusCode, message: err.message, data: err.data, retryable: err.isRetryable, retryAfter: err.responseHeaders?.['retry-after'],
})

export const scenarios = {
  plain: (site) => whole(site),
  stream: (site) => streamed(site),
  conversation,
  tools: (site) => loop(site, whole),
  'tools-stream': (site) => loop(site, streamed),
  'tools-at-once': (site) => loop(site, whole, callingTwo),
  'tools-at-once-stream': (site) => loop(site, streamed, callingTwo),
  structured: async (site) => (await generateText(ask(site, { prompt: naming, output: Output.object({ schema: book }) }))).output,
  'structured-object': async (site) => (await generateObject(ask(site, { prompt: naming, schema: book }))).object,
  'structured-stream': objectStream,
  embeddings: async (site) => (await embedMany({ model: provider(site).embeddingModel(embedder), values: texts })).embeddings,
  unauthorized: (site) => failure(whole(site), details),
  'unknown-model': (site) => failure(whole(site, { model: provider(site)('nothing') }), details),
  'rate-limit': (site) => failure(whole(site, { maxRetries: 0 }), details),
  retried: (site) => whole(site),
  'too-long': (site) => failure(whole(site, { prompt: tooLong }), details),
}
