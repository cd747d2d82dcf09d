/**
 * Stands for a model with OpenAI's Chat Completions API: it takes `{ messages }` in the form of that API and resolves with a `chat.completion`.
 * As the API does, it refuses a list in which a tool call has no result, or a result has no call. On a question it calls the tool `lookup`, and
 * on the result it answers with all questions that it was asked. With MODEL_HANGS it never answers, and writes a file with that name.
 */
import { writeFileSync } from "node:fs"

export async function complete({ messages }) {
  let open = []
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id))
        throw new Error(`400: no call ${message.tool_call_id} before its result`)
      open = open.filter((id) => id !== message.tool_call_id)
      continue
    }
    if (open.length > 0) throw new Error(`400: the call ${open[0]} has no result`)
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id)
  }
  if (open.length > 0) throw new Error(`400: the call ${open[0]} has no result`)
  if (process.env.MODEL_HANGS) {
    writeFileSync(process.env.MODEL_HANGS, "")
    await new Promise((resolve) => setTimeout(resolve, 600_000))
  }
  const questions = messages.filter(({ role }) => role === "user").map(({ content }) => content)
  const last = messages.at(-1)
  const message =
    last.role === "tool"
      ? { role: "assistant", content: `${questions.join(" | ")} -> ${last.content}`, refusal: null }
      : {
          role: "assistant",
          content: null,
          refusal: null,
          tool_calls: [
            {
              id: `call_${messages.length}`,
              type: "function",
              function: { name: "lookup", arguments: JSON.stringify({ key: questions.at(-1) }) },
            },
          ],
        }
  const finish_reason = last.role === "tool" ? "stop" : "tool_calls"
  return {
    id: `chatcmpl-${messages.length}`,
    object: "chat.completion",
    created: 1_780_000_000,
    model: "stand-in",
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }
}
