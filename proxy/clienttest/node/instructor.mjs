import Instructor from '@instructor-ai/instructor'
import OpenAI from 'openai'
import { z } from 'zod/v3' // the library reads no schemas of version 4
import { details, failure, model, naming, question, tooLong } from './tasks.mjs'

const book = z.object({ title: z.string(), pages: z.number().int(), tags: z.array(z.string()) })

const connect = (site, mode) => Instructor({ client: new OpenAI(site), mode })

const ask = (site, mode, more) => connect(site, mode).chat.completions.create({ model, messages: [{ role: 'user', content: naming }], response_model: { schema: book, name: 'Book' }, ...more })

async function streamed(site) {
  let last
  for await (const part of await ask(site, 'TOOLS', { stream: true })) last = part
  return last
}

export const scenarios = {
  plain: (site) => connect(site, 'TOOLS').chat.completions.create({ model, messages: [{ role: 'user', content: question }] }),
  structured: (site) => ask(site, 'TOOLS'),
  'structured-schema': (site) => ask(site, 'JSON_SCHEMA'),
  'structured-stream': streamed,
  unauthorized: (site) => failure(ask(site, 'TOOLS'), details),
  'unknown-model': (site) => failure(ask(site, 'TOOLS', { model: 'nothing' }), details),
  'rate-limit': (site) => failure(Instructor({ client: new OpenAI({ ...site, maxRetries: 0 }), mode: 'TOOLS' }).chat.completions.create({ model, messages: [{ role: 'user', content: naming }], response_model: { schema: book, name: 'Book' } }), details),
  retried: (site) => ask(site, 'TOOLS'),
  'too-long': (site) => failure(ask(site, 'TOOLS', { messages: [{ role: 'user', content: tooLong }] }), details),
}
