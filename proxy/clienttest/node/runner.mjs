// Runs scenarios of one client at one site after the other: node runner.mjs CLIENT SITE,... [SCENARIO...]; without names, all. Each scenario
// has a base URL and a key of its own. Prints one JSON object a line: the scenario, and its result or an unexpected error.
import { Socket } from 'node:net'

globalThis.AI_SDK_LOG_WARNINGS = false
process.env.MASTRA_TELEMETRY_DISABLED = '1'

// Connections to other machines fail: a client that makes one would send the test's requests there.
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  const { host = 'localhost' } = [args].flat(2).find((arg) => typeof arg === 'object' && arg !== null) ?? {}
  if (!['localhost', '127.0.0.1'].includes(host)) throw new Error(`a connection to ${host}`)
  return connect.apply(this, args)
}

const [client, sites, ...names] = process.argv.slice(2)
const { scenarios } = await import(`./${client}.mjs`)
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
console.error = console.warn = console.info = console.log = () => {} // some frameworks print what they throw

for (const [site, base] of sites.split(',').entries()) {
  for (const name of names.length ? names : Object.keys(scenarios)) {
    const line = { site, scenario: name }
    try {
      line.result = await scenarios[name]({ baseURL: `${base}/${name}/v1`, apiKey: `sk-${client}-${name}` })
    } catch (err) {
      line.error = err?.stack ?? String(err)
    }
    print(line)
  }
}
