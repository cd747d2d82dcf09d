import { createServer } from "node:http"
import { assert, checkUndamaged, makeFolder, openFiles, runProgram, start, textOf } from "../../lib/check.mjs"

const requests = []
const server = createServer((request, response) => void answer(request, response))
async function answer(request, response) {
  let text = ""
  for await (const chunk of request) text += chunk
  requests.push(JSON.parse(text))
  response.writeHead(200, { "content-type": "text/event-stream" })
  const breaks = requests.length === 2
  for (const event of eventsOf(requests.length)) {
    if (breaks && event.type === "content_block_stop" && event.index === 1) {
      response.flushHeaders()
      await new Promise((resolve) => setTimeout(resolve, 200))
      return void request.socket.destroy()
    }
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }
  response.end()
}
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const env = { ANTHROPIC_API_KEY: "x", ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}` }

const folder = makeFolder()
assert.equal(await runProgram("ask.mjs", [folder, "sky", "one"], env), "The answer 1 is this.", "what is printed")
const broken = await start("ask.mjs", [folder, "sky", "two"], env).done
assert.equal(broken.code, 1, "the exit code when the stream breaks off")
assert.match(broken.out, /^The answer 2 is this\./, "what has arrived is printed")
assert.equal(requests.length, 2, "the requests: an answer that broke off is not asked for again by itself")
assert.equal(
  await runProgram("ask.mjs", [folder, "sky", "three"], env),
  "The answer 3 is this.",
  "the question after that",
)
server.close()

for (const { model, max_tokens, stream, system } of requests) {
  assert.deepEqual([model, max_tokens, stream], ["claude-sonnet-5-5", 4096, true], "the request")
  assert.equal(textOf(system), "Be brief.", "the system prompt")
}
const { messages } = requests[2]
assert.deepEqual(
  messages.map(({ role }) => role),
  ["user", "assistant", "user", "assistant", "user"],
  "the messages of the third request",
)
assert.deepEqual(
  messages[1].content[0],
  { type: "thinking", thinking: "I think 1", signature: "signature 1" },
  "the thinking",
)
assert.match(JSON.stringify(messages[3]), /The answer 2 is this\./, "the part of the broken answer")
// A mark at the last message, or the one of the request that the API puts there by itself.
const marked = requests[2].cache_control ?? messages.at(-1).content.at(-1)?.cache_control
assert.deepEqual([marked?.type, marked?.ttl ?? "5m"], ["ephemeral", "5m"], "the conversation is not cached")

const sessions = openFiles(folder)
const session = await sessions.open("sky")
const stored = (await session.messages()).messages.map(({ message }) => message)
assert.deepEqual(
  stored.map(({ role }) => role),
  ["user", "assistant", "user", "assistant", "user", "assistant"],
  "the log",
)
assert.ok(textOf(stored[3].content).includes("The answer 2 is this."), "the part of the answer in the log")
assert.ok(["error", "aborted"].includes(stored[3].stopReason), "the log does not tell that the answer is not complete")
assert.ok(!["error", "aborted"].includes(stored[5].stopReason), "a complete answer is marked as one that is not")
await checkUndamaged(sessions)
await sessions.close()

function eventsOf(number) {
  const usage = { input_tokens: 9, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = {
    id: `msg_${number}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5-5",
    content: [],
    usage,
  }
  const delta = (index, delta) => ({ type: "content_block_delta", index, delta })
  return [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    delta(0, { type: "thinking_delta", thinking: `I think ${number}` }),
    delta(0, { type: "signature_delta", signature: `signature ${number}` }),
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "", citations: null } },
    delta(1, { type: "text_delta", text: `The answer ${number}` }),
    delta(1, { type: "text_delta", text: " is this." }),
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ]
}
