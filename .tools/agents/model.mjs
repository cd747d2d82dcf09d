// A model on loopback, which agents ask instead of their own. What it answers follows from the request, so that it is the same for all agents and however
// often one asks: the scene says what follows each prompt; anything else is answered with its number of rows.
import { createServer } from "node:http"
import { APIS, rowsOf } from "./apis.mjs"

/** Of all models of a run: agents take messages and calls with the ids of others for these. */
let answers = 0

/**
 * - `script`: `[prompt, answers]`, where `answers[n]` are the blocks after n steps of the assistant
 * - `callOf(block)`: the call `{ name, input }` that a block of the scene is for the agent
 * - `url`, `requests`; `held()`: resolves when an answer has come to its hold, or a tool has asked for `/held`, which is answered by
 *   `release()`
 */
export async function startModel({ script = [], callOf = () => undefined, usage = { input: 10, output: 2 } } = {}) {
  const requests = []
  let waiting = Promise.withResolvers()
  let hanging
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      const { url = "", method } = request
      if (url === "/held") {
        hanging = response
        return waiting.resolve()
      }
      const api = APIS.find(({ path }) => path.test(url))
      if (method !== "POST" || api === undefined) return response.writeHead(404).end("{}")
      const asked = JSON.parse(body)
      const one = { api: api.name, body: asked }
      requests.push(one)
      const type = /:generateContent/.test(url) ? "application/json" : "text/event-stream"
      response.writeHead(200, { "content-type": type })
      response.flushHeaders()
      const n = ++answers
      const blocks = answerTo(one, api, script).map((block, i) => blockOf(block, `call_${n}_${i}`, callOf))
      const whole = api.answer(response, blocks, { n, usage: usageOf(blocks, usage), url })
      if (whole) return response.end()
      waiting.resolve()
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    async held() {
      await waiting.promise
      waiting = Promise.withResolvers()
    },
    release: () => hanging.end(),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function usageOf(blocks, usage) {
  return blocks.find((block) => block.usage !== undefined)?.usage ?? usage
}

function blockOf(block, id, callOf) {
  if (typeof block === "string") return { text: block }
  if (block.text !== undefined || block.thinking !== undefined || block.hold) return block
  return { ...callOf(block), id, cut: block.cut }
}

function answerTo(request, api, script) {
  const rows = rowsOf(request).flatMap(({ row, isOwn }) => (isOwn ? [] : [row]))
  const fallback = [`answer to ${rows.length}`]
  // Side requests, as for a title, have the prompt and no tools.
  if (!api.hasTools(request.body)) return fallback
  for (let at = rows.length - 1; at >= 0; at--) {
    const found = rows[at].startsWith("user ") ? script.find(([prompt]) => rows[at].includes(prompt)) : undefined
    if (found !== undefined) return found[1][stepsAfter(rows.slice(at + 1))] ?? fallback
  }
  return fallback
}

/** How often the assistant has answered: its rows, with results or words of the user between them. */
function stepsAfter(rows) {
  const isAnswer = (row = "") => /^(?:assistant|call) /.test(row)
  return rows.filter((row, i) => isAnswer(row) && !isAnswer(rows[i - 1])).length
}
