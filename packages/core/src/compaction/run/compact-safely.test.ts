import { compact } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, codeOf, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import type { Summarize } from "../../compaction-settings/types.ts"
import type { Session } from "../../session/types.ts"
import type { SessionsOptions } from "../../session/repository-types.ts"

test("a summarizer that fails, returns nothing or is aborted writes nothing, and the session can be compacted afterwards", async () => {
  const { session, location, told } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER), user("c")])
  const lines = (await storedEntries(location)).length
  const abort = new AbortController()
  const never = new Promise<string>(() => undefined)
  const attempts: readonly (readonly [Summarize, string, AbortSignal?])[] = [
    [async () => Promise.reject(new Error("overloaded")), "compaction_failed"],
    [
      () => {
        throw new Error("thrown")
      },
      "compaction_failed",
    ],
    [async () => "  \n", "compaction_failed"],
    [async () => undefined as never, "compaction_failed"],
    [async () => SUMMARY, "aborted", AbortSignal.abort()],
    // It ignores its signal, and never answers.
    [async () => (abort.abort(), never), "aborted", abort.signal],
  ]
  for (const [summarize, code, signal] of attempts) {
    const compacted = compact(session, { summarize, keepRecentTokens: 1, ...(signal === undefined ? {} : { signal }) })
    expect(await codeOf(compacted)).toBe(code)
  }
  expect((await storedEntries(location)).length).toBe(lines)
  // The one aborted beforehand never began.
  expect(told.filter(([name]) => name === "compact_failed")).toHaveLength(5)
  await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 1 })
})

test("messages appended while the summary is made are kept", async () => {
  const { session } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  const summarize = async (): Promise<string> => (await session.append(user("meanwhile")), SUMMARY)
  await compact(session, { summarize, keepRecentTokens: 0 })
  expect((await contextTexts(session)).slice(1)).toEqual(["meanwhile"])
})

test("messages whose hooks run while the summary is made are kept too", async () => {
  let pass = (): void => undefined
  const hooks: SessionsOptions["hooks"] = {
    append: async (entry) => {
      if (JSON.stringify(entry).includes("meanwhile")) await new Promise<void>((resolve) => (pass = resolve))
    },
  }
  const { session } = await startCompacting({ hooks })
  await session.append([user(FILLER), assistant(FILLER)])
  const compacted = compact(session, {
    summarize: async () => {
      void session.append(user("meanwhile"))
      setImmediate(() => pass())
      return SUMMARY
    },
    keepRecentTokens: 0,
  })
  await compacted
  expect((await contextTexts(session)).slice(1)).toEqual(["meanwhile"])
})

test("a session changed meanwhile is not compacted: another branch, another compaction, a reset, a deleted or edited message", async () => {
  const ways: ((session: Session, ids: readonly string[], elsewhere: Session) => Promise<unknown>)[] = [
    (session, ids) => session.branch(ids[0] as string),
    // Only a title follows it, and yet it is another branch.
    (session, ids) => session.branch(ids[3] as string),
    (session) => session.resetLeaf(),
    (session) => session.append({ type: "reset_boundary" }),
    (session, ids) => session.tombstone(ids[1] as string),
    (session, ids) => session.edit(ids[1] as string, null),
    (session, ids) =>
      session.append({
        type: "compaction",
        id: "c",
        summary: "s",
        firstKeptEntryId: ids[0] as string,
        tokensBefore: 1,
        readFiles: [],
        modifiedFiles: [],
      }),
    async (_, ids, elsewhere) => {
      await elsewhere.append(user("another writer"))
      await elsewhere.tombstone(ids[1] as string)
    },
    (_, ids, elsewhere) => elsewhere.append(user("another branch"), { at: ids[0] as string }),
  ]
  for (const way of ways) {
    const { session, reopen, location, told } = await startCompacting()
    const { ids } = await session.append([user(FILLER), assistant(FILLER), user("c"), assistant("d")])
    await session.title("named")
    const elsewhere = await reopen()
    const summarize = async (): Promise<string> => (await way(session, ids, elsewhere), SUMMARY)
    await expect(compact(session, { summarize, keepRecentTokens: 1 })).rejects.toThrow(/moved/)
    expect((await storedEntries(location)).filter(({ summary }) => summary === SUMMARY)).toEqual([])
    expect(told.at(-1)?.[0]).toBe("compact_failed")
  }
})

test.each([{ keepRecentTokens: 1 }, { keepRecentTokens: 0 }])(
  "what another writer appends to the conversation meanwhile is kept behind the summary: $keepRecentTokens",
  async (keep) => {
    const { session, reopen, location } = await startCompacting()
    await session.append([user(FILLER), assistant(FILLER), user("c"), assistant("d")])
    const elsewhere = await reopen()
    let appended: Promise<unknown> | undefined
    const summarize = async (): Promise<string> => {
      await (appended ??= elsewhere.append([user("another"), assistant("writer")]))
      return SUMMARY
    }
    const { entryId } = await compact(session, { summarize, ...keep })
    const own = keep.keepRecentTokens === 0 ? [] : ["d"]
    for (const open of [session, elsewhere, await reopen()]) {
      await open.refresh()
      expect((await open.context()).compaction?.entryId).toBe(entryId)
      expect((await contextTexts(open)).slice(1)).toEqual([...own, "another", "writer"])
    }
    expect((await storedEntries(location)).at(-1)).toMatchObject({ type: "compaction", id: entryId })
  },
)

test("another writer's annotation does not stop a compaction", async () => {
  const { session, reopen } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  const elsewhere = await reopen()
  const { entryId } = await compact(session, {
    summarize: async () => (await elsewhere.title("named"), SUMMARY),
    keepRecentTokens: 0,
  })
  const opened = await reopen()
  expect((await opened.context()).compaction?.entryId).toBe(entryId)
  expect(await opened.info()).toMatchObject({ title: "named" })
})

test("one compaction at a time", async () => {
  const { session } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  let asked: (answer: (summary: string) => void) => void = () => undefined
  const isAsked = new Promise<(summary: string) => void>((resolve) => (asked = resolve))
  const first = compact(session, {
    summarize: () => new Promise((resolve) => asked(resolve)),
    keepRecentTokens: 0,
  })
  await expect(compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 0 })).rejects.toThrow(
    /another compaction is running/,
  )
  const answer = await isAsked
  answer(SUMMARY)
  await first
})

test("a session that is closed meanwhile is not compacted", async () => {
  const { session, location } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  const summarize = async (): Promise<string> => (await session.close(), SUMMARY)
  expect(await codeOf(compact(session, { summarize, keepRecentTokens: 0 }))).toBe("closed")
  expect(await storedEntries(location)).toHaveLength(2)
})

test("a before hook may reject; an after hook runs, and is reported if it throws", async () => {
  const calls: unknown[] = []
  let refuse = true
  const hooks: SessionsOptions["hooks"] = {
    compact: {
      before: ({ session, prompt }) => {
        calls.push(["before", session, prompt.includes("<conversation>")])
        if (refuse) throw new Error("Not now.")
      },
      after: async ({ session, entryId }) => {
        calls.push(["after", session, entryId])
        throw new Error("thrown after")
      },
    },
  }
  const { session, location, told } = await startCompacting({ hooks })
  await session.append([user(FILLER), assistant(FILLER)])
  const summarize = async (): Promise<string> => SUMMARY
  await expect(compact(session, { summarize, keepRecentTokens: 0 })).rejects.toThrow("Not now.")
  expect(await storedEntries(location)).toHaveLength(2)
  refuse = false
  const { entryId } = await compact(session, { summarize, keepRecentTokens: 0 })
  await new Promise((resolve) => setImmediate(resolve))
  expect(calls).toEqual([
    ["before", "s", true],
    ["before", "s", true],
    ["after", "s", entryId],
  ])
  expect(told.map(([name]) => name)).toEqual(["compact_failed", "compact_start", "compact_complete", "hook_failed"])
})
