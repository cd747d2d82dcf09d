import { createServer } from "node:http"
import { assert, checkUndamaged, makeFolder, openFiles, runProgram, textOf } from "../../lib/check.mjs"

/** The answers of the model, in their order. The arguments are written as no serializer would. */
const call = (id, name, args) => ({ id, type: "function", function: { name, arguments: args } })
const answers = [
  { tool_calls: [call("call_a", "weather", '{ "city" :"Paris"}'), call("call_b", "clock", "{}")] },
  { content: "Clear, at noon." },
  { tool_calls: [call("call_c", "weather", '{"city": "Atlantis" }'), call("call_d", "tides", '{"sea":"north"}')] },
  { content: "I cannot say." },
]
const requests = []
const server = createServer((request, response) => void answer(request, response))
async function answer(request, response) {
  let text = ""
  for await (const chunk of request) text += chunk
  const body = JSON.parse(text)
  requests.push(body)
  const answer = answers[requests.length - 1]
  const refusal = answer === undefined ? "too many requests" : problemOf(body.messages)
  if (refusal !== undefined) {
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: refusal } }))
  } else if (body.stream) stream(response, answer)
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole(answer)))
}
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const env = { OPENAI_API_KEY: "x", OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1` }

const folder = makeFolder()
assert.equal(
  await runProgram("agent.mjs", [folder, "trip", "How is Paris?"], env),
  "Clear, at noon.",
  "what is printed",
)
assert.equal(await runProgram("agent.mjs", [folder, "trip", "And Atlantis?"], env), "I cannot say.", "the second run")
server.close()

for (const { messages, model, tools } of requests) {
  assert.deepEqual(
    [messages[0].role, messages[0].content, model],
    ["system", "Be brief.", "gpt-5.1"],
    "the beginning of a request",
  )
  assert.equal(messages.filter(({ role }) => role === "system").length, 1, "the system prompts of a request")
  assert.equal(tools.length, 2, "the tools of a request")
}
const last = requests.at(-1).messages
assert.deepEqual(
  last.map(({ role }) => role),
  ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool", "tool"],
  "the messages of the last request",
)
assert.equal(last[2].tool_calls[0].function.arguments, '{ "city" :"Paris"}', "the arguments of a call")
assert.deepEqual(JSON.parse(textOf(last[3].content)), { city: "Paris", sky: "clear" }, "the result of the weather")
assert.match(textOf(last[8].content), /Atlantis is under water/, "the result of a tool that throws")

const sessions = openFiles(folder)
const session = await sessions.open("trip")
const { messages } = await session.messages()
assert.deepEqual(
  messages.map(({ message }) => message.role),
  [
    "user",
    "assistant",
    "toolResult",
    "toolResult",
    "assistant",
    "user",
    "assistant",
    "toolResult",
    "toolResult",
    "assistant",
  ],
  "the log",
)
const results = messages.filter(({ message }) => message.role === "toolResult").map(({ message }) => message)
assert.deepEqual(
  results.map(({ isError }) => isError === true),
  [false, false, true, true],
  "which results are errors",
)
await checkUndamaged(sessions)
await sessions.close()

function problemOf(messages) {
  let open = []
  for (const { role, tool_call_id, tool_calls } of messages) {
    if (role === "tool") {
      if (!open.includes(tool_call_id)) return `no call ${tool_call_id} before its result`
      open = open.filter((id) => id !== tool_call_id)
    } else if (open.length > 0) return `the call ${open[0]} has no result`
    else if (role === "assistant") open = (tool_calls ?? []).map(({ id }) => id)
  }
  return open.length > 0 ? `the call ${open[0]} has no result` : undefined
}

function whole({ content = null, tool_calls }) {
  const finish_reason = tool_calls === undefined ? "stop" : "tool_calls"
  const message = { role: "assistant", content, refusal: null, ...(tool_calls && { tool_calls }) }
  return {
    id: `chatcmpl-${requests.length}`,
    object: "chat.completion",
    created: 1_780_000_000,
    model: "gpt-5.1",
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
  }
}

function stream(response, { content, tool_calls }) {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const base = {
    id: `chatcmpl-${requests.length}`,
    object: "chat.completion.chunk",
    created: 1_780_000_000,
    model: "gpt-5.1",
  }
  const chunk = (delta, finish_reason = null) => send({ ...base, choices: [{ index: 0, delta, finish_reason }] })
  const send = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`)
  chunk({ role: "assistant", content: content === undefined ? null : "" })
  for (const piece of content?.match(/.{1,5}/g) ?? []) chunk({ content: piece })
  for (const [
    index,
    {
      id,
      function: { name, arguments: args },
    },
  ] of (tool_calls ?? []).entries()) {
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] })
    for (const piece of args.match(/.{1,4}/g)) chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  chunk({}, tool_calls === undefined ? "stop" : "tool_calls")
  send({ ...base, choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } })
  response.end("data: [DONE]\n\n")
}
