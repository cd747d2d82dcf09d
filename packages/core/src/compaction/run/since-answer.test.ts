import { autoCompact, automaticCompaction, compactionStatus, makeRoom } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting } from "../../../test/compacting.ts"
import { assistant, storedEntries, user } from "../../../test/writers.ts"
import type { Session } from "../../session/types.ts"

const TALK = [user(FILLER), assistant(FILLER)]
const TOO_LONG = new Error("prompt is too long")
const MOST = 3

/** A user message of so many tokens by the estimate. */
const question = (tokens: number) => user("x".repeat(tokens * 4))

/** A provider that refuses everything. */
async function refuseAll(session: Session, refusal = TOO_LONG): Promise<unknown> {
  await autoCompact(session)
  await makeRoom(session)
  for (;;) {
    const error = await makeRoom(session, { error: refusal }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (error !== undefined) return error
  }
}

/** A session whose last question, of so many tokens, was refused until nothing was left to do. */
async function startRefused(tokens: number, refusal = TOO_LONG) {
  let paid = 0
  const summarize = async (): Promise<string> => `short ${++paid}`
  const { session, reopen } = await startCompacting({
    compaction: automaticCompaction({ summarize, contextWindow: 20_000 }),
  })
  const ask = async (from = session): Promise<number> => {
    const before = paid
    expect(await refuseAll(from, refusal)).toMatchObject({ code: "no_room" })
    return paid - before
  }
  await session.append([...TALK, ...TALK, ...TALK])
  let last = (await session.append(question(tokens))).ids[0] as string
  const replace = async (tokens: number): Promise<void> => {
    await session.tombstone(last)
    last = (await session.append(question(tokens))).ids[0] as string
  }
  expect(await ask()).toBeGreaterThan(0)
  return { session, reopen, ask, replace, summarize }
}

test("after the end nothing is paid for a form that is no smaller than the smallest one that was refused", async () => {
  const { session, ask, replace } = await startRefused(40)
  await replace(20)
  await ask()
  // Something that a summary could take.
  await session.append(question(60))
  // Of 20 and 30, which is the last one, the smallest counts.
  for (const tokens of [30, 25]) {
    await replace(tokens)
    expect([tokens, await ask()]).toEqual([tokens, 0])
  }
  await replace(10)
  expect(await ask()).toBeGreaterThan(0)
})

test("automatic compaction pays nothing for such a form either, in any process", async () => {
  // With a count, which leaves room for a summary.
  const { session, reopen, summarize } = await startRefused(40, new Error("prompt is too long: 15000 tokens > 200000"))
  await session.append(Array.from({ length: 9 }, () => question(1_000)))
  const settings = { summarize, contextWindow: 20_000, thresholdTokens: 5_000 }
  for (const open of [session, await reopen()]) {
    expect(await autoCompact(open, settings)).toBeUndefined()
    expect(compactionStatus(open)).toEqual({ running: false, failures: 0, breakerOpen: false })
  }
  await session.append([assistant("ok"), question(100)])
  expect(await autoCompact(session, settings)).toMatchObject({ fits: true })
})

test("an answer, and another model, have not refused that form", async () => {
  const { session, ask } = await startRefused(40)
  await session.append({ type: "model_change", provider: "p", model: "other" })
  await session.append(TALK)
  await session.append(question(50))
  expect(await ask()).toBeGreaterThan(0)
  const { session: next, ask: askNext } = await startRefused(40)
  await next.append([assistant("ok"), ...TALK, question(50)])
  expect(await askNext()).toBeGreaterThan(0)
})

test("a deletion, an edit and another model begin with all three summaries anew", async () => {
  const edit = (targetId: string) => ({ type: "context_edit" as const, targetId, replacement: null })
  const acts: ((session: Session, id: string) => Promise<unknown>)[] = [
    (session, id) => session.tombstone(id),
    (session, id) => session.append(edit(id)),
    (session) => session.append({ type: "model_change", provider: "p", model: "other" }),
  ]
  for (const act of acts) {
    let paid = 0
    const summarize = async (): Promise<string> => {
      paid++
      throw new Error("the summarizer is down")
    }
    const { session } = await startCompacting({ compaction: automaticCompaction({ summarize, contextWindow: 1_500 }) })
    const { ids } = await session.append([...TALK, ...TALK, user("and now?")])
    expect(await makeRoom(session)).toMatchObject({ fits: false })
    expect(paid).toBe(MOST)
    await act(session, ids[0] as string)
    expect(await makeRoom(session)).toMatchObject({ fits: false })
    expect(paid).toBe(2 * MOST)
  }
})

test("cuts that a compaction repeats for the question that it carries are no cuts of what came since", async () => {
  const { session, location } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => "short", contextWindow: 6_000 }),
  })
  const [asked = ""] = (await session.append([...TALK, ...TALK, question(4_000)])).ids.slice(-1)
  expect(await refuseAll(session)).toMatchObject({ code: "no_room" })
  const call = { type: "toolCall", id: "c", name: "read", arguments: {} } as const
  const content = "x".repeat(8_000)
  const answer = { type: "message", message: { role: "assistant", content: [call] } } as const
  const result = {
    type: "message",
    message: { role: "toolResult", toolCallId: "c", toolName: "read", content },
  } as const
  const { ids } = await session.append([answer, result, answer, result])
  expect(await refuseAll(session)).toMatchObject({ code: "no_room" })
  const steps = (await storedEntries(location)).filter(({ type }) => type === "context_step" || type === "compaction")
  const cutsOf = (id: string | undefined) => steps.filter(({ step, upTo }) => step === "cut" && upTo === id)
  expect(cutsOf(asked).length).toBeGreaterThan(1)
  expect(cutsOf(ids[3]).at(-1)).toMatchObject({ units: 64 })
})
