/** Random calls by several writers on one session, one after the other, against a history in memory. */
import { createAgentSession, type HistoryTransaction, listAgentSessions } from "@sessions/openai-agents"
import type { Sessions } from "@sessions/core"
import * as fc from "fast-check"
import { afterEach, expect, test } from "vitest"
import { type Location, openLocation, type StorageName } from "./open-storages.ts"
import { ReferenceSession } from "./reference.ts"

const RUNS = { memory: 24, files: 10, sqlite: 10, postgres: 2, s3: 10 } as const
const factor = Number(process.env["FC_RUNS"] ?? 0)

const item = fc.oneof(
  fc.nat(3).map((n) => ({ type: "message", role: "user", content: `question ${n}` })),
  fc.nat(3).map((n) => ({
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: `answer ${n}` }],
  })),
  fc.nat(2).map((n) => ({ type: "function_call", callId: `c${n}`, name: "look", arguments: `{"n":${n}}` })),
  fc.nat(2).map((n) => ({
    type: "function_call_result",
    callId: `c${n}`,
    name: "look",
    status: "completed",
    output: "found",
  })),
  fc.nat(2).map((n) => ({ type: "compaction", encrypted_content: `secret ${n}` })),
)
const items = fc.array(item, { maxLength: 4 })

const call = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), items }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pop" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("get" as const), limit: fc.integer({ min: -1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), items }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("append" as const), id: fc.nat(3), items }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("replace" as const),
      id: fc.nat(5),
      cut: fc.nat(3),
      wrong: fc.boolean(),
      items,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("mutate" as const), calls: fc.array(fc.nat(2), { maxLength: 2 }) }),
  },
)
const script = fc.array(fc.tuple(fc.nat(2), call), { maxLength: 14 })

/** Nothing is added between a clear and the compaction that it was for. Found with SEED=204098715. */
const NOTHING_BETWEEN: [number, Call][] = [
  [0, { kind: "clear" }],
  [1, { kind: "add", items: [{ type: "message", role: "user", content: "question 0" }] }],
  [0, { kind: "add", items: [] }],
  [0, { kind: "add", items: [{ type: "compaction", encrypted_content: "secret 0" }] }],
]

let location: Location | undefined
afterEach(async () => {
  await location?.close()
  location = undefined
})

export function modelTest(name: StorageName): void {
  test(`any calls of several writers leave the history that the reference has, on ${name}`, async () => {
    location = await openLocation(name)
    const place = location
    const writers = [place.open(), place.open(), place.open()]
    let id = 0
    await fc.assert(
      fc.asyncProperty(script, async (calls) => {
        const sessionId = `s ${id++}`
        const reference = new ReferenceSession()
        const sessions = writers.map((sessions) => createAgentSession<object>({ sessions, sessionId }))
        const cleared = new Set<number>()
        for (const [writer, one] of calls) {
          const next = cleared.has(writer) ? withoutCompaction(one) : one
          if (next.kind === "clear") cleared.add(writer)
          // Adding nothing does nothing.
          else if (next.kind !== "add" || next.items.length > 0) cleared.delete(writer)
          const session = sessions[writer] as (typeof sessions)[number]
          expect(await outcomeOf(session, next, reference)).toEqual(await outcomeOf(reference, next, reference, true))
        }
        for (const session of sessions) {
          expect(await session.getItems()).toEqual(await reference.getItems())
          await session.close()
        }
        // A compaction replaces a question that was not taken back.
        if (calls.some(([, { kind }]) => kind === "compact")) return
        const { sessions: listed } = await listAgentSessions(writers[1] as Sessions, { metadata: { sessionId } })
        const history = (await reference.getItems()) as readonly {
          readonly role?: string
          readonly content?: unknown
        }[]
        const question = history.find(({ role }) => role === "user")?.content
        expect(listed.map(({ firstPrompt, metadata }) => [firstPrompt, metadata])).toEqual(
          listed.map(() => [question, { sessionId }]),
        )
      }),
      { numRuns: factor || RUNS[name], examples: [[NOTHING_BETWEEN]] },
    )
  })
}

type Call = typeof call extends fc.Arbitrary<infer T> ? T : never
type Calls = Pick<
  ReferenceSession,
  | "getItems"
  | "addItems"
  | "popItem"
  | "clearSession"
  | "replaceHistoryWithCompaction"
  | "applyHistoryTransaction"
  | "applyHistoryMutations"
>

/** A session that is cleared for a compaction keeps what the compaction has not got; the reference does not. */
function withoutCompaction(next: Call): Call {
  return next.kind === "add" ? { ...next, items: next.items.filter(({ type }) => type !== "compaction") } : next
}

/** The history before the call, which both get. */
let before: readonly object[] = []

async function outcomeOf(
  session: Calls,
  next: Call,
  reference: ReferenceSession,
  isReference = false,
): Promise<unknown> {
  if (!isReference) before = await reference.getItems()
  switch (next.kind) {
    case "add":
      return session.addItems(next.items)
    case "pop":
      return session.popItem()
    case "clear":
      return session.clearSession()
    case "get":
      return session.getItems(next.limit)
    case "compact": {
      // A writer that has read twice has seen every item, so none is kept.
      await session.getItems()
      await session.getItems()
      return session.replaceHistoryWithCompaction(next.items)
    }
    case "append":
      return applied(session, `append ${next.id}`, { type: "append_items", items: next.items })
    case "replace": {
      const end = next.wrong ? [{ type: "unknown" }] : before.slice(Math.max(0, before.length - next.cut))
      return applied(session, `replace ${next.id}`, {
        type: "replace_suffix",
        expectedSuffix: end,
        replacement: next.items,
      })
    }
    case "mutate":
      return session.applyHistoryMutations({
        mutations: next.calls.map((n) => ({
          type: "replace_function_call",
          callId: `c${n}`,
          replacement: { type: "function_call", callId: `c${n}`, name: "look", arguments: "{}" },
        })),
      })
  }
}

async function applied(session: Calls, operationId: string, transaction: HistoryTransaction<object>): Promise<boolean> {
  return session.applyHistoryTransaction({ operationId, transaction }).then(
    () => true,
    () => false,
  )
}
