// A model on loopback, which agents ask instead of their own, in the three APIs that they speak. What it answers follows from the request, so that it is
// the same for all agents: to a text with `CALL` a call of the agent's tool, to its result and to any other text an answer with its number.
import { createServer } from "node:http"

/** Of all models of a run: agents take messages and calls with the ids of others for these. */
let answers = 0

/** `tool`: `{ name, input }` of the call. */
export async function startModel(tool) {
  const requests = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      const api = APIS.find(({ path }) => path.test(request.url ?? ""))
      if (request.method !== "POST" || api === undefined) return response.writeHead(404).end("{}")
      const asked = JSON.parse(body)
      requests.push({ api: api.name, body: asked })
      response.writeHead(200, { "content-type": "text/event-stream" })
      const rows = rowsOf({ api: api.name, body: asked })
      const isCall = /^user [^]*CALL/.test(rows.at(-1) ?? "")
      const id = `call_${++answers}`
      api.answer(response, isCall ? { ...tool, id } : { text: `answer to ${rows.length}` }, answers)
    })
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const event = (response, name, data) => response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

const APIS = [
  {
    name: "messages",
    path: /\/v1\/messages(\?|$)/,
    answer(response, { text, name, input, id }, n) {
      const usage = { input_tokens: 10, output_tokens: 2 }
      const message = {
        id: `msg_${n}`,
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage,
      }
      const block = text === undefined ? { type: "tool_use", id, name, input: {} } : { type: "text", text: "" }
      const delta =
        text === undefined
          ? { type: "input_json_delta", partial_json: JSON.stringify(input) }
          : { type: "text_delta", text }
      const reason = text === undefined ? "tool_use" : "end_turn"
      for (const one of [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: block },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 2 } },
        { type: "message_stop" },
      ])
        event(response, one.type, one)
      response.end()
    },
  },
  {
    name: "responses",
    path: /\/responses$/,
    answer(response, { text, name, input, id }, n) {
      const item =
        text === undefined
          ? { type: "function_call", id: `fc_${n}`, call_id: id, name, arguments: JSON.stringify(input) }
          : { type: "message", role: "assistant", id: `m_${n}`, content: [{ type: "output_text", text }] }
      const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
      for (const one of [
        { type: "response.created", response: { id: `r_${n}` } },
        { type: "response.output_item.done", item },
        { type: "response.completed", response: { id: `r_${n}`, usage } },
      ])
        event(response, one.type, one)
      response.end()
    },
  },
  {
    name: "chat",
    path: /\/chat\/completions$/,
    answer(response, { text, name, input, id }, n) {
      const chunk = (delta, finish, more = {}) =>
        response.write(
          `data: ${JSON.stringify({ id: `r_${n}`, object: "chat.completion.chunk", created: 1, model: "any", choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`,
        )
      const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } }
      chunk({ role: "assistant", ...(text === undefined ? { tool_calls: [call] } : { content: text }) }, null)
      const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
      chunk({}, text === undefined ? "tool_calls" : "stop", { usage })
      response.end("data: [DONE]\n\n")
    },
  },
]

/** The conversation of a request as lines, without what the agent says of itself and of its surroundings, and without ids. */
export function rowsOf({ api, body }) {
  if (api === "messages")
    return body.messages.flatMap(({ role, content }) => blocksOf(content).flatMap((one) => ofMessages(role, one)))
  if (api === "responses") return body.input.flatMap(ofResponses)
  return body.messages.flatMap(ofChat)
}

const blocksOf = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []))

const textOf = (content) =>
  blocksOf(content)
    .map(({ text }) => text ?? "")
    .join("\n")

function ofMessages(role, block) {
  if (block.type === "tool_use") return [callRow(block.name, block.input)]
  if (block.type === "tool_result") return [`result ${textOf(block.content).trim()}`]
  return block.type === "text" ? said(role, block.text) : []
}

function ofResponses(item) {
  if (item.type === "function_call") return [callRow(item.name, JSON.parse(item.arguments))]
  if (item.type === "function_call_output") return [`result ${textOf(item.output).trim()}`]
  if (item.type !== "message" && item.role === undefined) return []
  return blocksOf(item.content).flatMap(({ text = "" }) => said(item.role, text))
}

function ofChat({ role, content, tool_calls: calls = [] }) {
  if (role === "tool") return [`result ${textOf(content).trim()}`]
  const texts = blocksOf(content).flatMap(({ text = "" }) => said(role, text))
  return [...texts, ...calls.map(({ function: { name, arguments: args } }) => callRow(name, JSON.parse(args)))]
}

/** The rows of our context, as those of a request. */
export function rowsOfContext(messages) {
  return messages.flatMap(({ message: { role, content } }) => {
    if (role === "toolResult") return [`result ${textOf(content).trim()}`]
    return content.flatMap((block) => {
      if (block.type === "toolCall") return [callRow(block.name, block.arguments)]
      return block.type === "text" ? said(role, block.text) : []
    })
  })
}

/** Names of tools are those of each agent. */
const callRow = (_, input) => `call ${JSON.stringify(input)}`

function said(role, text) {
  const shown = text.trim()
  return role === "system" || role === "developer" || shown === "" || OWN_WORDS.test(shown) ? [] : [`${role} ${shown}`]
}

/** What agents tell the model of themselves, in messages of the user. */
const OWN_WORDS =
  /^(?:<system-reminder>|<environment_context>|<permissions instructions>|<user_instructions>|<INSTRUCTIONS>|# AGENTS\.md|<skills_instructions>|<collaboration_mode>)/
