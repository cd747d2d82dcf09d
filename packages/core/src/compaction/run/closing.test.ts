/** Cancelling a running summarizer when no caller waits for its summary any more. */
import { autoCompact, automaticCompaction, branchWithSummary, compact, compactionStatus } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { soon } from "../../../test/soon.ts"
import { assistant, codeOf, storedEntries, user } from "../../../test/writers.ts"
import type { Summarize, SummarizeRequest } from "../../compaction-settings/types.ts"

const TALK = [user(FILLER), assistant(FILLER)]

/** It never answers, and ignores its signal. */
function hanging(): { readonly summarize: Summarize; readonly request: Promise<SummarizeRequest> } {
  let asked: (request: SummarizeRequest) => void = () => undefined
  const request = new Promise<SummarizeRequest>((resolve) => (asked = resolve))
  return { request, summarize: (one) => (asked(one), new Promise(() => undefined)) }
}

test("closing the handle that compacts cancels its summarizer; nothing is written, and other handles may compact", async () => {
  const { session, sessions, location } = await startCompacting()
  await session.append(TALK)
  const other = await sessions.open("s")
  const failures: unknown[] = []
  other.on("compact_failed", (event) => failures.push(event))
  const { summarize, request } = hanging()
  const compacted = codeOf(compact(session, { summarize, keepRecentTokens: 0 }))
  const { signal } = await request
  await session.close()
  expect(signal.aborted).toBe(true)
  expect(await compacted).toBe("closed")
  expect(failures).toMatchObject([{ kind: "stopped", failures: 0 }])
  expect(await storedEntries(location)).toHaveLength(2)
  expect(await compact(other, { summarize: async () => SUMMARY, keepRecentTokens: 0 })).toBeDefined()
})

test("closing another handle cancels nothing", async () => {
  const { session, sessions } = await startCompacting()
  await session.append(TALK)
  const other = await sessions.open("s")
  const summarize: Summarize = async ({ signal }) => (await other.close(), signal.aborted ? "" : SUMMARY)
  expect(await compact(session, { summarize, keepRecentTokens: 0 })).toMatchObject({ summary: SUMMARY })
})

test("closing the sessions cancels every summarizer: by hand, automatic, and of an abandoned branch", async () => {
  const { session, sessions, location } = await startCompacting()
  const { ids } = await session.append(TALK)
  const settings = { keepRecentTokens: 0, thresholdTokens: 1_500 }
  const ways: ((summarize: Summarize) => Promise<unknown>)[] = [
    (summarize) => compact(session, { ...settings, summarize }),
    async (summarize) => {
      const other = await sessions.create({ compaction: automaticCompaction({ ...settings, summarize }) })
      await other.append(TALK)
      return autoCompact(other)
    },
    (summarize) => branchWithSummary(session, ids[0] as string, { summarize }),
  ]
  const waiting = ways.map((way) => {
    const { summarize, request } = hanging()
    return { request, ended: codeOf(way(summarize)) }
  })
  const requests = await Promise.all(waiting.map(({ request }) => request))
  await sessions.close()
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, true, true])
  expect(await Promise.all(waiting.map(({ ended }) => ended))).toEqual(["closed", "closed", "closed"])
  expect(await storedEntries(location)).toHaveLength(2)
})

test("a turn whose handle is closed during its compaction ends", async () => {
  const { summarize, request } = hanging()
  const { session, location } = await startCompacting({
    compaction: automaticCompaction({ summarize, thresholdTokens: 1_500, keepRecentTokens: 0 }),
  })
  const turn = session.turn(async (inner) => (await inner.append(TALK), "done"))
  await request
  await session.close()
  expect(await turn).toBe("done")
  expect(await storedEntries(location)).toHaveLength(2)
})

test.each(["abort", "close"] as const)(
  "a hook that hangs does not hold back a compaction after its %s",
  async (way) => {
    const asked: string[] = []
    let begun: (value?: unknown) => void = () => undefined
    const running = new Promise((resolve) => (begun = resolve))
    const before = (): Promise<unknown> => (begun(), new Promise(() => undefined))
    const { session, sessions, location } = await startCompacting({ hooks: { compact: { before } } })
    const other = await sessions.open("s")
    await session.append(TALK)
    const stop = new AbortController()
    const summarize: Summarize = async ({ prompt }) => (asked.push(prompt), SUMMARY)
    const compacted = codeOf(compact(session, { summarize, keepRecentTokens: 0, signal: stop.signal }))
    await running
    expect(compactionStatus(other).running).toBe(true)
    if (way === "abort") stop.abort()
    else void session.close()
    expect(await soon(compacted)).toBe(way === "abort" ? "aborted" : "closed")
    expect(compactionStatus(other)).toEqual({ running: false, failures: 0, breakerOpen: false })
    expect(asked).toEqual([])
    expect(await storedEntries(location)).toHaveLength(2)
  },
)

test.each(["a hook before it", "an append before it"] as const)(
  "an abort ends a compaction whose own append waits for %s",
  async (what) => {
    const stop = new AbortController()
    const append = (entry: { readonly type: string }): Promise<never> | undefined => {
      if (entry.type !== "compaction" && entry.type !== "label") return undefined
      if (entry.type === "compaction") stop.abort()
      return new Promise(() => undefined)
    }
    const { session, location } = await startCompacting({ hooks: { append } })
    const { ids } = await session.append(TALK)
    const summarize: Summarize = async () => {
      if (what === "an append before it") {
        void session.label(ids[0] as string, "waits")
        queueMicrotask(() => stop.abort())
      }
      return SUMMARY
    }
    expect(await soon(codeOf(compact(session, { summarize, keepRecentTokens: 0, signal: stop.signal })))).toBe(
      "aborted",
    )
    expect(compactionStatus(session).running).toBe(false)
    expect(await storedEntries(location)).toHaveLength(2)
  },
)
