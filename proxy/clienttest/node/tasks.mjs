// What each framework is asked for. Frameworks run at their own defaults, except where a task says so.
import { z } from 'zod'

export { embedder, failure, kinds, model } from './asks.mjs'

export const reasoning = 'gpt-5' // a model whose answers begin with an item of reasoning
export const system = 'You are a friendly guide.'
export const question = 'What is a delta?'
export const next = 'Where is one?'
export const naming = 'Name a book.'
export const calling = 'Please call tool 3 times.' // the engine then calls one tool after the other, and answers
export const callingTwo = 'Please call tools 2 times.' // two tools at once, and then again
export const texts = ['the red car', 'a delta']
export const tooLong = 'word '.repeat(6000)

export const book = z.object({ title: z.string(), pages: z.number().int(), tags: z.array(z.string()) })

// tools are functions whose results depend on their arguments only. calls is filled with each call.
export function tools(calls) {
  const noted = (name, answer) => async (args) => {
    calls.push({ name, args })
    return answer(args)
  }
  return [
    { name: 'weather', description: 'The weather of the next days.', parameters: z.object({ city: z.string(), days: z.number().int().min(3) }), run: noted('weather', ({ city, days }) => `${days} days of sun in ${city}`) },
    { name: 'distance', description: 'The distance of two places.', parameters: z.object({ from: z.string(), to: z.string() }), run: noted('distance', ({ from, to }) => `${from.length + to.length} km`) },
  ]
}

// details is the part of an error that an application would use.
export const details = (err) => ({
  kind: err.name, status: err.status ?? err.statusCode, code: err.code ?? err.error?.code, message: err.message, headers: err.headers?.get?.('retry-after') ?? err.responseHeaders?.['retry-after'],
})
