// Runs scenarios of one client: node runner.mjs CLIENT BASE SCENARIO... Each scenario has a base URL and a key of its own.
// Prints one JSON object a line: the scenario, and its result or an unexpected error.

globalThis.AI_SDK_LOG_WARNINGS = false
const [client, base, ...names] = process.argv.slice(2)
const { scenarios } = await import(`./${client}.mjs`)

for (const name of names) {
  const line = { scenario: name }
  try {
    line.result = await scenarios[name]({ baseURL: `${base}/${name}/v1`, apiKey: `sk-${name}` })
  } catch (err) {
    line.error = err?.stack ?? String(err)
  }
  console.log(JSON.stringify(line))
}
