// The APIs of models that agents speak: an answer as the events of each, and the conversation of a request as rows.
//
// An answer is a list of blocks: `{ text }`, `{ thinking }`, `{ id, name, input }` of a call, and `{ hold: true }`, at which it stops for good. `cut` of a
// text or a call says that half of it comes before the stop.
import { blocksOf, callRow, imageRow, resultRows, said } from "./rows.mjs"

const event = (response, name, data) => response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
const data = (response, value) => response.write(`data: ${JSON.stringify(value)}\n\n`)
/** As Google's servers do: the events of its client end at separators of lines. */
const escaped = (value) =>
  JSON.stringify(value).replaceAll(/[\u2028\u2029]/g, (one) => (one === "\u2028" ? "\\u2028" : "\\u2029"))
const half = (text) => text.slice(0, Math.ceil(text.length / 2))
const isCall = ({ name }) => name !== undefined

const messages = {
  name: "messages",
  path: /\/v1\/messages(\?|$)/,
  hasTools: ({ tools }) => (tools ?? []).length > 0,
  answer(response, blocks, { n, usage }) {
    const counted = { input_tokens: usage.input, output_tokens: usage.output }
    const message = { id: `msg_${n}`, type: "message", role: "assistant", model: "m", content: [], stop_reason: null }
    event(response, "message_start", { type: "message_start", message: { ...message, usage: counted } })
    for (const [index, block] of blocks.entries()) {
      if (block.hold) return false
      const [content_block, delta] = this.blockOf(block)
      event(response, "content_block_start", { type: "content_block_start", index, content_block })
      event(response, "content_block_delta", { type: "content_block_delta", index, delta })
      if (block.cut) return false
      if (block.thinking !== undefined)
        event(response, "content_block_delta", {
          type: "content_block_delta",
          index,
          delta: { type: "signature_delta", signature: "c2lnbmVk" },
        })
      event(response, "content_block_stop", { type: "content_block_stop", index })
    }
    const reason = blocks.some(isCall) ? "tool_use" : "end_turn"
    event(response, "message_delta", {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    })
    event(response, "message_stop", { type: "message_stop" })
    return true
  },
  blockOf({ text, thinking, id, name, input, cut }) {
    if (thinking !== undefined)
      return [
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking },
      ]
    const json = JSON.stringify(input)
    return name === undefined
      ? [
          { type: "text", text: "" },
          { type: "text_delta", text: cut ? half(text) : text },
        ]
      : [
          { type: "tool_use", id, name, input: {} },
          { type: "input_json_delta", partial_json: cut ? half(json) : json },
        ]
  },
  rows: ({ messages: list }) =>
    list.flatMap(({ role, content }) =>
      blocksOf(content).flatMap((block) => {
        if (block.type === "tool_use") return [callRow(block.id, block.input)]
        if (block.type === "tool_result") return resultRows(block.tool_use_id, block.content)
        if (block.type === "image") return [imageRow(role, block.source?.data)]
        return block.type === "text" ? said(role, block.text) : []
      }),
    ),
}

const responses = {
  name: "responses",
  path: /\/responses$/,
  hasTools: ({ tools }) => (tools ?? []).length > 0,
  answer(response, blocks, { n, usage }) {
    event(response, "response.created", { type: "response.created", response: { id: `r_${n}` } })
    for (const [i, block] of blocks.entries()) {
      if (block.hold) return false
      const item = this.itemOf(block, `${n}_${i}`)
      if (block.cut) {
        event(response, "response.output_item.added", {
          type: "response.output_item.added",
          output_index: i,
          item: { ...item, content: [] },
        })
        if (block.text !== undefined)
          event(response, "response.output_text.delta", {
            type: "response.output_text.delta",
            item_id: item.id,
            output_index: i,
            content_index: 0,
            delta: half(block.text),
          })
        return false
      }
      event(response, "response.output_item.done", { type: "response.output_item.done", output_index: i, item })
    }
    const counted = { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output }
    event(response, "response.completed", { type: "response.completed", response: { id: `r_${n}`, usage: counted } })
    return true
  },
  itemOf({ text, thinking, id, name, input }, n) {
    if (thinking !== undefined)
      return {
        type: "reasoning",
        id: `rs_${n}`,
        summary: [{ type: "summary_text", text: thinking }],
        encrypted_content: "ZW5jcnlwdGVk",
      }
    if (name !== undefined)
      return { type: "function_call", id: `fc_${n}`, call_id: id, name, arguments: JSON.stringify(input) }
    return { type: "message", role: "assistant", id: `m_${n}`, content: [{ type: "output_text", text }] }
  },
  rows: ({ input }) =>
    input.flatMap((item) => {
      if (item.type === "function_call") return [callRow(item.call_id, JSON.parse(item.arguments))]
      if (item.type === "function_call_output") return resultRows(item.call_id, item.output)
      if (item.type !== "message" && item.role === undefined) return []
      return blocksOf(item.content).flatMap(({ type, text = "", image_url: url }) =>
        type === "input_image" ? [imageRow(item.role, url.split(",")[1])] : said(item.role, text),
      )
    }),
}

const chat = {
  name: "chat",
  path: /\/chat\/completions$/,
  hasTools: ({ tools }) => (tools ?? []).length > 0,
  answer(response, blocks, { n, usage }) {
    const chunk = (delta, finish_reason, more = {}) =>
      data(response, {
        id: `r_${n}`,
        object: "chat.completion.chunk",
        created: 1,
        model: "any",
        choices: [{ index: 0, delta, finish_reason }],
        ...more,
      })
    let calls = 0
    if (!blocks[0]?.hold) chunk({ role: "assistant" }, null)
    for (const block of blocks) {
      if (block.hold) return false
      const { text, thinking, id, name, input, cut } = block
      if (thinking !== undefined) chunk({ reasoning_content: thinking }, null)
      else if (name === undefined) chunk({ content: cut ? half(text) : text }, null)
      else {
        const json = JSON.stringify(input)
        const made = { name, arguments: cut ? half(json) : json }
        chunk({ tool_calls: [{ index: calls++, id, type: "function", function: made }] }, null)
      }
      if (cut) return false
    }
    const counted = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    }
    chunk({}, calls > 0 ? "tool_calls" : "stop", { usage: counted })
    response.write("data: [DONE]\n\n")
    return true
  },
  rows: ({ messages: list }) =>
    list.flatMap(({ role, content, tool_call_id: id, tool_calls: calls = [] }) => {
      if (role === "tool") return resultRows(id, content)
      const texts = blocksOf(content).flatMap(({ type, text = "", image_url: image }) =>
        type === "image_url" ? [imageRow(role, image.url.split(",")[1])] : said(role, text),
      )
      return [...texts, ...calls.map((call) => callRow(call.id, JSON.parse(call.function.arguments || "{}")))]
    }),
}

const gemini = {
  name: "gemini",
  path: /:(?:streamG|g)enerateContent/,
  hasTools: ({ tools }) => (tools ?? []).length > 0,
  answer(response, blocks, { usage, url }) {
    const isStream = /stream/.test(url)
    const usageMetadata = {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    }
    const send = (parts, more = {}) => {
      const value = { candidates: [{ content: { role: "model", parts }, index: 0, ...more }], usageMetadata }
      if (isStream) response.write(`data: ${escaped(value)}\n\n`)
      else response.write(JSON.stringify(value))
    }
    const partOf = ({ text, thinking, id, name, input, cut }) => {
      if (thinking !== undefined) return { text: thinking, thought: true }
      return name === undefined ? { text: cut ? half(text) : text } : { functionCall: { id, name, args: input } }
    }
    if (!isStream) {
      send(blocks.map(partOf), { finishReason: "STOP" })
      return true
    }
    for (const block of blocks) {
      if (block.hold) return false
      if (block.cut && isCall(block)) return false
      send([partOf(block)])
      if (block.cut) return false
    }
    send([], { finishReason: "STOP" })
    return true
  },
  rows: ({ contents }) =>
    contents.flatMap(({ role, parts = [] }) =>
      parts.flatMap(({ text = "", thought, functionCall: call, functionResponse: result, inlineData: inline }) => {
        if (call !== undefined) return [callRow(call.id, call.args)]
        if (result !== undefined) {
          const { output, error } = result.response ?? {}
          return resultRows(result.id, output ?? error ?? JSON.stringify(result.response))
        }
        const from = role === "model" ? "assistant" : role
        if (inline !== undefined) return [imageRow(from, inline.data)]
        return thought ? [] : said(from, text)
      }),
    ),
}

export const APIS = [messages, responses, chat, gemini]

export function rowsOf({ api, body }) {
  return APIS.find(({ name }) => name === api).rows(body)
}
