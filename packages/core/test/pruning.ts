/** Conversations full of tool results, for tests of pruning. */
import * as fc from "fast-check"
import type { ContentBlock, ModelMessage } from "../src/format/message.ts"
import type { ContextMessage } from "../src/context/types.ts"
import type { PruneOptions } from "../src/context/prune/settings.ts"

type Item = ContextMessage<ModelMessage>

export function items(...messages: readonly ModelMessage[]): Item[] {
  return messages.map((message, index) => ({ entryId: `e${index}`, kind: "message", message }))
}

export function said(role: "user" | "assistant", text = role): ModelMessage {
  return { role, content: [{ type: "text", text }] }
}

export function called(id: string, name = "read", args: Readonly<Record<string, unknown>> = {}): ModelMessage {
  return { role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }] }
}

export function result(toolCallId: string, content: string | readonly ContentBlock[], more: object = {}): ModelMessage {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
  return { role: "toolResult", toolCallId, isError: false, content: blocks, ...more }
}

/** A question, `results` calls with a result each, and three answers, so that every result is old. */
export function oldResults(...results: readonly ModelMessage[]): Item[] {
  const rounds = results.flatMap((message) => [called(String(message["toolCallId"])), message])
  return items(said("user"), ...rounds, said("assistant"), said("assistant"), said("assistant"))
}

export function textOf(item: Item | undefined): string {
  return (item?.message.content ?? []).map((block) => String((block as { text?: unknown }).text ?? "")).join("")
}

const units = fc.oneof(fc.nat({ max: 200 }), fc.integer({ min: 3_900, max: 4_100 }), fc.nat({ max: 60_000 }))
/** Text with surrogate pairs at every possible cut. */
const text = fc
  .tuple(units, fc.constantFrom("x", "😀", "a😀"))
  .map(([n, unit]) => unit.repeat(Math.ceil(n / unit.length)))
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  { weight: 8, arbitrary: text.map((value) => ({ type: "text" as const, text: value })) },
  { weight: 1, arbitrary: fc.constant({ type: "image", data: "aGk=", mimeType: "image/png" }) },
  { weight: 1, arbitrary: text.map((value) => ({ type: "text" as const, text: value, textSignature: "signed" })) },
  { weight: 1, arbitrary: fc.constant({ type: "file", path: "/a", mimeType: "text/plain" }) },
)
const blocks = fc.array(block, { maxLength: 4 })
const tool = fc.constantFrom("read", "bash", "skill")

/** The next messages: a text, or a message with parallel calls and a result each. */
const step = fc.oneof(
  fc.record({
    kind: fc.constantFrom("user", "assistant", "system"),
    content: fc.nat({ max: 200 }).map((n) => "😀".repeat(n)),
  }),
  fc.record({
    kind: fc.constant("calls"),
    results: fc.array(fc.tuple(tool, blocks, fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 4 }),
  }),
)

/** Sendable conversations of any shape. */
export const conversation: fc.Arbitrary<Item[]> = fc.array(step, { maxLength: 24 }).map((steps) => {
  let calls = 0
  const messages = steps.flatMap((one): ModelMessage[] => {
    if (!("results" in one)) {
      const said = { role: one.kind as "user", content: [{ type: "text" as const, text: one.content }] }
      return [said]
    }
    // Local models reuse ids.
    const ids = one.results.map((_, index) => `c${calls++ % 7}-${index}`)
    const content = one.results.map(([name], i) => ({
      type: "toolCall" as const,
      id: ids[i] as string,
      name,
      arguments: { calls },
    }))
    return [
      { role: "assistant", content },
      ...one.results.map(([toolName, body, isError, named], i) =>
        result(ids[i] as string, body, { isError, ...(named ? { toolName } : {}) }),
      ),
    ]
  })
  return items(...messages)
})

/** Valid options. */
export const options: fc.Arbitrary<PruneOptions> = fc
  .record(
    {
      shares: fc.tuple(share(), share()),
      hardClearMinChars: fc.oneof(fc.constant(0), fc.nat({ max: 60_000 })),
      trim: fc.tuple(fc.nat({ max: 2_000 }), fc.nat({ max: 2_000 }), fc.nat({ max: 2_000 })),
      keepAssistantMessages: fc.nat({ max: 5 }),
      exemptTools: fc.subarray(["skill", "bash"]),
      minResultChars: fc.constantFrom(0, 3_000, 50_000),
      aggressive: fc.boolean(),
      toolResultBudget: fc.constantFrom(false as const, 0, 10_000, 50_000),
      budgetKeepMessages: fc.nat({ max: 8 }),
    },
    { requiredKeys: [] },
  )
  .map(({ shares, trim, ...rest }) => ({ ...rest, ...sharesOf(shares), ...trimOf(trim) }))

function share(): fc.Arbitrary<number | false> {
  return fc.oneof(
    fc.constantFrom(0, 0.3, 0.5, 1),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constant(false as const),
  )
}

function sharesOf(shares: readonly [number | false, number | false] | undefined): PruneOptions {
  if (shares === undefined) return {}
  const [a, b] = shares
  if (a === false || b === false) return { softTrimShare: a, hardClearShare: b }
  return { softTrimShare: Math.min(a, b), hardClearShare: Math.max(a, b) }
}

function trimOf(trim: readonly [number, number, number] | undefined): PruneOptions {
  if (trim === undefined) return {}
  const [trimHeadChars, trimTailChars, more] = trim
  return { trimHeadChars, trimTailChars, trimOverChars: trimHeadChars + trimTailChars + 100 + more }
}
