/** The events in which the providers stream an answer, with its texts in pieces of a size. */
import type Anthropic from "@anthropic-ai/sdk"
import type { GenerateContentResponse } from "@google/genai"
import type OpenAI from "openai"

function pieces(value: string, size: number): readonly string[] {
  const found: string[] = []
  for (let i = 0; i < value.length; i += size) found.push(value.slice(i, i + size))
  return found
}

export function* anthropicEvents(answer: Anthropic.Message, size: number): Generator<Anthropic.RawMessageStreamEvent> {
  const { usage } = answer
  yield {
    type: "message_start",
    message: { ...answer, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  }
  for (const [index, block] of answer.content.entries()) {
    const delta = (value: Anthropic.RawContentBlockDelta) => ({
      type: "content_block_delta" as const,
      index,
      delta: value,
    })
    if (block.type === "text") {
      const citations = block.citations === null ? null : []
      yield { type: "content_block_start", index, content_block: { ...block, text: "", citations } }
      for (const text of pieces(block.text, size)) yield delta({ type: "text_delta", text })
      for (const citation of block.citations ?? []) yield delta({ type: "citations_delta", citation })
    } else if (block.type === "thinking") {
      yield { type: "content_block_start", index, content_block: { ...block, thinking: "", signature: "" } }
      for (const thinking of pieces(block.thinking, size)) yield delta({ type: "thinking_delta", thinking })
      yield delta({ type: "signature_delta", signature: block.signature })
    } else if (block.type === "tool_use" || block.type === "server_tool_use") {
      yield { type: "content_block_start", index, content_block: { ...block, input: {} } }
      yield delta({ type: "input_json_delta", partial_json: "" })
      for (const partial_json of pieces(JSON.stringify(block.input), size))
        yield delta({ type: "input_json_delta", partial_json })
    } else yield { type: "content_block_start", index, content_block: block }
    yield { type: "content_block_stop", index }
  }
  const counts = { output_tokens: usage.output_tokens, input_tokens: null, cache_read_input_tokens: null }
  const delta = { stop_reason: answer.stop_reason, stop_sequence: null, container: null, stop_details: null }
  yield { type: "message_delta", delta, usage: counts } as unknown as Anthropic.RawMessageDeltaEvent
  yield { type: "message_stop" }
}

export function* chatChunks(answer: OpenAI.ChatCompletion, size: number): Generator<OpenAI.ChatCompletionChunk> {
  const { id, model, choices, usage } = answer
  const base = { id, model, created: 1, object: "chat.completion.chunk" as const }
  const chunk = (delta: OpenAI.ChatCompletionChunk.Choice.Delta, finish: "stop" | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finish }],
    usage: null,
  })
  const message = choices[0]?.message
  yield chunk({ role: "assistant", content: "", refusal: null })
  for (const content of pieces(message?.content ?? "", size)) yield chunk({ content })
  for (const refusal of pieces(message?.refusal ?? "", size)) yield chunk({ refusal })
  for (const [index, call] of (message?.tool_calls ?? []).entries()) {
    const { id: callId, type } = call
    if (call.type === "custom") {
      yield chunk({ tool_calls: [{ index, id: callId, type, custom: { name: call.custom.name, input: "" } }] })
      for (const input of pieces(call.custom.input, size)) yield chunk({ tool_calls: [{ index, custom: { input } }] })
    } else {
      yield chunk({ tool_calls: [{ index, id: callId, type, function: { name: call.function.name, arguments: "" } }] })
      for (const args of pieces(call.function.arguments, size))
        yield chunk({ tool_calls: [{ index, function: { arguments: args } }] })
    }
  }
  yield chunk({}, "stop")
  yield { ...base, choices: [], usage: usage ?? null }
}

export function* responsesEvents(
  answer: OpenAI.Responses.Response,
  size: number,
): Generator<OpenAI.Responses.ResponseStreamEvent> {
  let sequence_number = 0
  const event = (type: string, fields: object) =>
    ({ type, sequence_number: sequence_number++, ...fields }) as unknown as OpenAI.Responses.ResponseStreamEvent
  yield event("response.created", { response: { ...answer, status: "in_progress", output: [], usage: null } })
  for (const [output_index, item] of answer.output.entries()) {
    const at = { output_index, item_id: item.id }
    const open = { ...item, status: "in_progress" }
    if (item.type === "message") {
      yield event("response.output_item.added", { output_index, item: { ...open, content: [] } })
      for (const [content_index, part] of item.content.entries()) {
        const isText = part.type === "output_text"
        const empty = isText ? { ...part, text: "" } : { ...part, refusal: "" }
        yield event("response.content_part.added", { ...at, content_index, part: empty })
        for (const delta of pieces(isText ? part.text : part.refusal, size))
          yield event(`response.${isText ? "output_text" : "refusal"}.delta`, { ...at, content_index, delta })
      }
    } else if (item.type === "function_call") {
      yield event("response.output_item.added", { output_index, item: { ...open, arguments: "" } })
      for (const delta of pieces(item.arguments, size))
        yield event("response.function_call_arguments.delta", { ...at, delta })
    } else if (item.type === "reasoning") {
      yield event("response.output_item.added", { output_index, item: { ...open, summary: [] } })
      for (const [summary_index, part] of item.summary.entries()) {
        const place = { ...at, summary_index }
        yield event("response.reasoning_summary_part.added", { ...place, part: { ...part, text: "" } })
        for (const delta of pieces(part.text, size))
          yield event("response.reasoning_summary_text.delta", { ...place, delta })
        yield event("response.reasoning_summary_text.done", { ...place, text: part.text })
        yield event("response.reasoning_summary_part.done", { ...place, part })
      }
    } else yield event("response.output_item.added", { output_index, item: open })
    yield event("response.output_item.done", { output_index, item })
  }
  yield event("response.completed", { response: answer })
}

export function* geminiChunks(answer: GenerateContentResponse, size: number): Generator<GenerateContentResponse> {
  const { candidates, responseId, modelVersion, usageMetadata } = answer
  const chunk = (parts: object[], more: object = {}) =>
    ({
      responseId,
      modelVersion,
      candidates: [{ index: 0, content: { role: "model", parts } }],
      ...more,
    }) as unknown as GenerateContentResponse
  for (const part of candidates?.[0]?.content?.parts ?? []) {
    if (part.text === undefined || part.thoughtSignature !== undefined) yield chunk([part])
    else for (const text of pieces(part.text, size)) yield chunk([{ ...part, text }])
  }
  const end = { index: 0, finishReason: "STOP", content: { role: "model", parts: [{ text: "" }] } }
  yield chunk([], { candidates: [end], usageMetadata })
}
