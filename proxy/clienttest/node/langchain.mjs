import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { book, calling, callingTwo, details, embedder, failure, model, naming, next, question, reasoning, system, texts, tooLong, tools } from './tasks.mjs'

const connect = ({ baseURL, apiKey }, more) => new ChatOpenAI({ model, apiKey, configuration: { baseURL }, ...more })

// said is the part of a message that an application would use.
const said = ({ id, content, tool_calls, usage_metadata, response_metadata }) => ({ id, content, tool_calls, usage_metadata, finish: response_metadata.finish_reason, status: response_metadata.status })

const asked = [['system', system], ['human', question]]

async function streamed(llm, input) {
  let sum
  for await (const chunk of await llm.stream(input)) sum = sum ? sum.concat(chunk) : chunk
  return sum
}

async function conversation(site) {
  const llm = connect(site)
  const one = await llm.invoke([new HumanMessage(question)])
  return [said(one), said(await llm.invoke([new HumanMessage(question), one, new HumanMessage(next)]))]
}

// loop calls the tools that the model wants until it answers.
async function loop(llm, invoke, asked = calling) {
  const calls = []
  const known = tools(calls).map(({ name, description, parameters, run }) => tool(run, { name, description, schema: parameters }))
  const messages = [new HumanMessage(asked)]
  for (;;) {
    const message = await invoke(llm.bindTools(known), messages)
    messages.push(message)
    if (!message.tool_calls.length) return { calls, messages: messages.map((m) => (m.tool_calls ? said(m) : { tool_call_id: m.tool_call_id, content: m.content })) }
    for (const call of message.tool_calls) {
      const result = await known.find(({ name }) => name === call.name).invoke(call)
      if (!(result instanceof ToolMessage)) throw new Error('no message of a tool')
      messages.push(result)
    }
  }
}

const whole = (llm, input) => llm.invoke(input)

export const scenarios = {
  plain: async (site) => said(await connect(site).invoke(asked)),
  stream: async (site) => said(await streamed(connect(site), asked)),
  conversation,
  tools: (site) => loop(connect(site), whole),
  'tools-stream': (site) => loop(connect(site), streamed),
  'tools-at-once': (site) => loop(connect(site), whole, callingTwo),
  'tools-at-once-stream': (site) => loop(connect(site), streamed, callingTwo),
  structured: (site) => connect(site).withStructuredOutput(book).invoke(naming),
  'structured-tool': (site) => connect(site).withStructuredOutput(book, { method: 'functionCalling', name: 'book' }).invoke(naming),
  response: async (site) => said(await connect(site, { useResponsesApi: true }).invoke(asked)),
  'response-stream': async (site) => said(await streamed(connect(site, { useResponsesApi: true }), asked)),
  'response-tools': (site) => loop(connect(site, { useResponsesApi: true }), whole),
  'response-tools-stream': (site) => loop(connect(site, { useResponsesApi: true }), streamed),
  'response-tools-at-once': (site) => loop(connect(site, { useResponsesApi: true }), whole, callingTwo),
  'response-tools-at-once-stream': (site) => loop(connect(site, { useResponsesApi: true }), streamed, callingTwo),
  reasoning: (site) => loop(connect(site, { useResponsesApi: true, model: reasoning }), whole),
  'reasoning-stream': (site) => loop(connect(site, { useResponsesApi: true, model: reasoning }), streamed),
  embeddings: ({ baseURL, apiKey }) => new OpenAIEmbeddings({ model: embedder, apiKey, dimensions: 8, configuration: { baseURL } }).embedDocuments(texts),
  unauthorized: (site) => failure(connect(site).invoke(question), details),
  'unknown-model': (site) => failure(connect(site, { model: 'nothing' }).invoke(question), details),
  'rate-limit': (site) => failure(connect(site, { maxRetries: 0 }).invoke(question), details),
  retried: async (site) => said(await connect(site).invoke(question)),
  'too-long': (site) => failure(connect(site).invoke(tooLong), details),
}
