// The requests of both clients. Prompts are shorter than a block of the engine's prefix cache, so that the same request twice
// without the proxy has the same usage twice.

export const model = 'gpt-4o'
export const embedder = 'text-embedding-3-small'
export const completer = 'gpt-3.5-turbo-instruct'

export const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 3 } },
  required: ['city', 'days'],
  additionalProperties: false,
}

export const book = {
  type: 'object',
  properties: { title: { type: 'string' }, pages: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['title', 'pages', 'tags'],
  additionalProperties: false,
}

// kinds is the order of the events of a stream, without repeats: a replay may cut the text at other places.
export function kinds(events) {
  return events.filter((kind, i) => kind !== events[i - 1]).join(' ')
}

// failure is the error of a request that must fail.
export async function failure(promise, details) {
  try {
    await promise
  } catch (err) {
    return details(err)
  }
  throw new Error('no error was thrown')
}
