import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, MemorySaver, StateGraph } from '@langchain/langgraph'
import { createReactAgent, ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { book, calling, callingTwo, details, failure, kinds, model, naming, next, question, system, tooLong, tools } from './tasks.mjs'

const connect = ({ baseURL, apiKey }, more) => new ChatOpenAI({ model, apiKey, configuration: { baseURL }, ...more })

const known = (calls) => tools(calls).map(({ name, description, parameters, run }) => tool(run, { name, description, schema: parameters }))

// history is the messages of a state as an application would show them.
const history = ({ messages }) => messages.map(({ type, id, content, tool_calls, tool_call_id, usage_metadata }) => ({ type, id: type === 'human' ? undefined : id, content, tool_calls, tool_call_id, usage_metadata }))

const user = (content) => ({ messages: [{ role: 'user', content }] })

// graph is a loop of a model and its tools, built node by node.
function graph(site, calls) {
  const llm = connect(site).bindTools(known(calls))
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
    .addNode('tools', new ToolNode(known(calls)))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ checkpointer: new MemorySaver() })
}

const thread = { configurable: { thread_id: '1' } }

async function conversation(site) {
  const app = graph(site, [])
  await app.invoke(user(question), thread)
  return history(await app.invoke(user(next), thread))
}

async function loop(site, asked) {
  const calls = []
  return { history: history(await graph(site, calls).invoke(user(asked), thread)), calls }
}

// react is the loop that the library has.
async function react(site, more) {
  const calls = []
  const app = createReactAgent({ llm: connect(site, more), tools: known(calls), prompt: system })
  return { history: history(await app.invoke(user(calling))), calls }
}

async function streamed(site) {
  const calls = []
  const app = createReactAgent({ llm: connect(site), tools: known(calls), prompt: system })
  const nodes = []
  let text = ''
  for await (const [mode, part] of await app.stream(user(calling), { streamMode: ['updates', 'messages'] })) {
    if (mode === 'messages' && part[0].type === 'ai') text += part[0].text
    if (mode === 'updates') nodes.push(...Object.keys(part))
  }
  return { calls, text, nodes: kinds(nodes) }
}

async function structured(site) {
  const app = createReactAgent({ llm: connect(site), tools: [], responseFormat: book })
  return (await app.invoke(user(naming))).structuredResponse
}

export const scenarios = {
  plain: async (site) => history(await graph(site, []).invoke(user(question), thread)),
  conversation,
  tools: (site) => loop(site, calling),
  'tools-at-once': (site) => loop(site, callingTwo),
  'tools-react': (site) => react(site),
  'tools-stream': streamed,
  'response-tools': (site) => react(site, { useResponsesApi: true }),
  structured,
  unauthorized: (site) => failure(graph(site, []).invoke(user(question), thread), details),
  'unknown-model': (site) => failure(react(site, { model: 'nothing' }), details),
  'rate-limit': (site) => failure(react(site, { maxRetries: 0 }), details),
  retried: async (site) => history(await graph(site, []).invoke(user(question), thread)),
  'too-long': (site) => failure(graph(site, []).invoke(user(tooLong), thread), details),
}
