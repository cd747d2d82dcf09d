import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createAgentSession } from "./index.ts"

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constant("data:image/png;base64,iVBORw0KGgo="))
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    text,
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("any"), { maxLength: 3 }),
  object: fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom("type", "text", "image", "__proto__", "frame", "item")),
    tie("any"),
    {
      maxKeys: 4,
    },
  ),
})).any
const part = fc.record(
  {
    type: fc.constantFrom(
      "input_text",
      "output_text",
      "reasoning_text",
      "text",
      "refusal",
      "input_image",
      "input_file",
      "audio",
    ),
    text: fc.oneof(text, value),
    refusal: text,
    image: fc.oneof(text, value),
    providerData: value,
  },
  { requiredKeys: ["type"] },
)
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }), part, value)
/** Items of the SDK's shapes, of nearly these shapes, and of any other. */
const item = fc.oneof(
  fc.record(
    {
      type: fc.constant("message"),
      role: fc.constantFrom("user", "assistant", "system"),
      content,
      id: text,
      status: text,
    },
    { requiredKeys: ["role"] },
  ),
  fc.record(
    {
      type: fc.constantFrom("function_call", "function_call_result", "reasoning"),
      callId: fc.oneof(text, value),
      name: text,
      arguments: fc.oneof(text, fc.json(), value),
      output: content,
      content,
      status: fc.constantFrom("completed", "incomplete"),
      providerData: value,
    },
    { requiredKeys: ["type"] },
  ),
  fc.dictionary(fc.string(), fc.oneof(value, fc.uint8Array())),
  fc.record({
    type: fc.constant("unknown"),
    providerData: fc.array(fc.oneof(value, fc.uint8Array()), { maxLength: 3 }),
  }),
)

test("items of any shape come back deep-equal, in their order, also in another process", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  let id = 0
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 5 }), async (items) => {
      const sessionId = `s${id++}`
      const given = structuredClone(items)
      const session = createAgentSession<object>({ sessions, sessionId })
      await session.addItems(items)
      expect(items).toEqual(given)
      const read = await session.getItems()
      expect(read).toEqual(given)
      expect(read.map((one) => Object.keys(one))).toEqual(given.map((one) => Object.keys(one)))
      await session.close()
      expect(await createAgentSession({ sessions, sessionId }).getItems()).toEqual(given)
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 60) },
  )
})
