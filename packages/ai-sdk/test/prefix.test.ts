/**
 * Providers bill a prefix that they have cached at a fraction of the price, so a request must begin with the request before it. What the model
 * gets is recorded, of runs that end in every way.
 */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { isStepCount, type ModelMessage, streamText, tool, toUIMessageStream, type UIMessage } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { runs } from "../../../.config/runs.ts"
import { type ChatStore, createChatStore } from "../src/index.ts"
import { call, type Chunk, completed, reasoning, step, streamOf, text, toModelMessages, user } from "./model.ts"

const input = z.object({ at: z.string() })
const tools = {
  text: tool({ inputSchema: input, execute: async ({ at }) => `seen ${at}` }),
  json: tool({ inputSchema: input, execute: async ({ at }) => ({ at, list: [1, null, { deep: true }] }) }),
  throws: tool({
    inputSchema: input,
    execute: async ({ at }): Promise<string> => Promise.reject(new Error(`no ${at}`)),
  }),
  page: tool({ inputSchema: input, outputSchema: z.string() }),
  approved: tool({ inputSchema: input, needsApproval: true, execute: async ({ at }) => `did ${at}` }),
}
type Name = keyof typeof tools

const said = fc.record({
  thinks: fc.boolean(),
  says: fc.boolean(),
  calls: fc.array(fc.constantFrom<Name>("text", "json", "throws", "page", "approved"), { maxLength: 2 }),
})
const turn = fc.record({
  steps: fc.array(said, { minLength: 1, maxLength: 3 }),
  /** What the page does with calls that wait for it: nothing, or it answers them before or after the next question. */
  answers: fc.constantFrom("never", "now", "late"),
  approves: fc.boolean(),
  /** The stream breaks behind this chunk of the last step. */
  breaksAfter: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
})
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never

let calls = 0

function chunksOf({ thinks, says, calls: names }: Turn["steps"][number]): Chunk[] {
  return step(
    ...(thinks ? [reasoning("hm", "c2ln")] : []),
    ...(says || names.length === 0 ? [text("I say")] : []),
    ...names.map((name) => call(`c${calls++}`, name, { at: name })),
  )
}

interface World {
  readonly store: ChatStore<UIMessage>
  /** What the model got, as JSON. */
  readonly prompts: string[][]
  /** What a route does with the messages for the model. */
  readonly fit: (messages: ModelMessage[]) => ModelMessage[]
}

/** One request of a route. */
async function request(
  { store, prompts, fit }: World,
  message: UIMessage,
  steps: readonly ReadableStream<Chunk>[],
): Promise<void> {
  const left = [...steps]
  const messages = await store.addMessage({ id: "c", message })
  const model = new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      prompts.push(prompt.map((one) => JSON.stringify(one)))
      return { stream: left.shift() ?? streamOf(step(text("end"))) }
    },
  })
  const result = streamText({
    model,
    tools,
    messages: fit(await toModelMessages(messages, { tools })),
    stopWhen: isStepCount(5),
    onError: () => undefined,
  })
  const stream = toUIMessageStream({ stream: result.stream, ...store.persist({ chatId: "c", messages }) })
  // The page reads until the stream breaks.
  for await (const _ of stream);
}

function streamsOf({ steps, breaksAfter }: Turn): ReadableStream<Chunk>[] {
  return steps.map((one, index) => {
    const chunks = chunksOf(one)
    if (breaksAfter === undefined || index < steps.length - 1) return streamOf(chunks)
    return streamOf([...chunks.slice(0, breaksAfter), { type: "error", error: new Error("The connection was lost.") }])
  })
}

/** The answer with what the page has for it; undefined: none of its calls waits. */
function answered(message: UIMessage | undefined, approved: boolean): UIMessage | undefined {
  if (message?.role !== "assistant") return undefined
  const answer = completed(message, approved)
  return answer.parts.every((part, index) => part === message.parts[index]) ? undefined : answer
}

const FITS: readonly (readonly [string, World["fit"]])[] = [
  ["a model gets", (messages) => messages],
  ["is fitted to the model's provider", (messages) => fitAiSdk(messages, { model: "anthropic/claude-sonnet-5-5" })],
]

test.each(FITS)(
  "what %s begins with what it got before, unless a result has taken the place of a repair",
  async (_, fit) => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 4 }), async (turns) => {
        const world: World = {
          store: createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() })),
          prompts: [],
          fit,
        }
        for (const [n, one] of turns.entries()) {
          await request(world, user(`q${n}`, `question ${n}`), streamsOf(one))
          const chat = await world.store.loadChat("c")
          const asked = chat.findLastIndex(({ role }) => role === "user")
          const now = one.answers === "now" ? answered(chat.at(-1), one.approves) : undefined
          if (now !== undefined) await request(world, now, [])
          const late = turns[n - 1]?.answers === "late" ? answered(chat[asked - 1], one.approves) : undefined
          if (late === undefined) continue
          expect(brokenPrefix(world.prompts)).toBeUndefined()
          world.prompts.length = 0
          await world.store.addMessage({ id: "c", message: late })
        }
        expect(brokenPrefix(world.prompts)).toBeUndefined()
      }),
      { numRuns: runs(12), examples: [[decided(true)], [decided(false)]] },
    )
  },
)

/** A turn with a call that a user decides on, beside one that runs at once, and the next turn. */
function decided(approves: boolean): Turn[] {
  const step = { thinks: false, says: false, calls: [] }
  const asking: Turn["steps"][number] = { ...step, calls: ["approved", "text"] }
  return [
    { steps: [asking, step], answers: "now", approves, breaksAfter: undefined },
    { steps: [step], answers: "never", approves, breaksAfter: undefined },
  ]
}

/** The first request that does not begin with the one before it. */
function brokenPrefix(prompts: readonly (readonly string[])[]): unknown {
  const index = prompts.findIndex((prompt, at) => at > 0 && !isPrefix(prompts[at - 1] ?? [], prompt))
  return index < 0 ? undefined : [prompts[index - 1], prompts[index]]
}

function isPrefix(before: readonly string[], prompt: readonly string[]): boolean {
  return before.every((message, index) => message === prompt[index])
}
