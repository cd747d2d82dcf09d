/** Histories that were cut off, copied and taken back: OpenAI's Responses API takes what the SDK's own model sends of them. */
import { createServer, type Server } from "node:http"
import { json } from "node:stream/consumers"
import { Agent, type AgentInputItem, type Model } from "@openai/agents-core"
import { OpenAIProvider } from "@openai/agents-openai"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createAgentSession } from "@sessions/openai-agents"
import * as fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { refusedByOpenAIResponses } from "../../providers/test/validators/openai-responses.ts"
import { runner } from "./agents.ts"
import { hosted, kinds, question, reasoning } from "./items.ts"

let bodies: object[] = []
let server: Server
let model: Model
beforeAll(async () => {
  server = createServer((request, response) => {
    // What it would answer is of no interest.
    void json(request).then((body) => {
      bodies.push(body as object)
      response.writeHead(400).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  model = await new OpenAIProvider({ apiKey: "x", baseURL: `http://127.0.0.1:${port}/v1` }).getModel("gpt-5.1")
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

type Kind = keyof typeof kinds
const step = fc.record({
  kind: fc.constantFrom(...(Object.keys(kinds) as Kind[]), undefined),
  thinks: fc.constantFrom("", "rs_1", "rs_2", `rs_${"x".repeat(80)}`),
  isAnswered: fc.boolean(),
  says: fc.constantFrom(undefined, "", "msg_1", "msg_2", `msg_${"x".repeat(80)}`),
  asks: fc.boolean(),
  /** Local models use the ids of calls again. */
  isAgain: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function itemsOf({ kind, thinks, isAnswered, says, asks, isAgain }: Step, n: number): readonly object[] {
  const status = isAnswered ? "completed" : "in_progress"
  const id = isAgain && kind === "function" ? "c" : `c${n}`
  const [call, ...result] = kind === undefined ? [hosted(`ws_${n}`, status)] : kinds[kind](id)
  const said = {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "a" }],
  }
  return [
    ...(thinks === "" ? [] : [reasoning(thinks)]),
    call,
    ...(isAnswered ? result : []),
    ...(says === undefined ? [] : [says === "" ? said : { ...said, id: says }]),
    ...(asks ? [question("and?")] : []),
  ]
}

test("OpenAI takes what is sent of any history", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), fc.nat(3), async (steps, taken) => {
      const sessions = createSessions({ storage: createMemoryStorage() })
      const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s" })
      await session.addItems([question("go"), ...steps.flatMap(itemsOf)] as AgentInputItem[])
      for (let i = 0; i < taken; i++) await session.popItem()
      const stored = await session.getItems()
      bodies = []
      await expect(runner.run(new Agent({ name: "guide", model }), "next", { session })).rejects.toThrow("400")
      const [body = {}] = bodies
      expect({ refused: refusedByOpenAIResponses(body).map(({ message }) => message), body }).toEqual({
        refused: [],
        body,
      })
      expect((await session.getItems()).slice(0, stored.length)).toEqual(stored)
    }),
    { numRuns: runs(40) },
  ))
