/** Open tips of logs that were imported, copied, migrated or forked: what was open stays open, and nothing else becomes open. */
import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { chain, linesOf, user } from "../../test/chain.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { codeOf, sessionsIn, smallBatches, textOf } from "../../test/transfer.ts"
import type { Sessions } from "../session/repository-types.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { copySession, exportSession, forkSession, importSession, sessionBranches, verifySession } from "./index.ts"

/** The ids of the open tips as the stored information, a new session and `verify` have them. */
async function openIn(storage: SessionStorage, id: string): Promise<readonly string[]> {
  const sessions = sessionsIn(storage)
  const info = (await sessions.info(id)).openTips?.tips.map((tip) => tip.id)
  const session = await sessions.open(id)
  const branches = await sessionBranches(session)
  const open = branches.filter(({ settled, current }) => !settled && !current).map((branch) => branch.id)
  const diverged = (await verifySession(sessions, id)).diagnostics.filter(({ code }) => code === "diverged")
  expect(info).toEqual(open)
  expect(diverged.flatMap(({ tips = [] }) => tips.map((tip) => tip.id))).toEqual(open)
  return open
}

/** `e3` was written by another writer, and the conversation went on from `e2`. */
const aside = [
  user("a"),
  user("b"),
  user("c"),
  user("d", { parentId: "e2" }),
  ...Array.from({ length: 20 }, (_, n) => user(`${n}`)),
]

async function importInterrupted(sessions: Sessions, text: string, id: string): Promise<void> {
  const abort = new AbortController()
  const cut = importSession(sessions, text, { id, signal: abort.signal, onProgress: () => abort.abort() })
  expect(await codeOf(cut)).toBe("aborted")
  expect((await sessions.info(id)).incomplete).toBe(true)
  await importSession(sessions, text, { id })
}

describe("an open tip of a log stays open", () => {
  const text = `${linesOf(chain(...aside), HEADER).join("\n")}\n`

  test.each([
    ["one batch", createMemoryStorage],
    ["several batches", smallBatches],
  ])("when it is imported in %s, exported and imported again", async (_, storage) => {
    const [first, second] = [storage(), storage()]
    await importSession(sessionsIn(first), text, { id: "one" })
    expect(await openIn(first, "one")).toEqual(["e3"])
    await importSession(sessionsIn(second), await textOf(exportSession(sessionsIn(first), "one")), { id: "two" })
    expect(await openIn(second, "two")).toEqual(["e3"])
  })

  test("when its import was interrupted and repeated", async () => {
    const storage = smallBatches()
    await importInterrupted(sessionsIn(storage), text, "new")
    expect(await openIn(storage, "new")).toEqual(["e3"])
  })

  test("when it is copied, and copied again after its source got another", async () => {
    const [from, to] = [await storeLines(linesOf(chain(...aside), HEADER)), smallBatches()]
    await copySession(sessionsIn(from), STORED_ID, to)
    expect(await openIn(to, STORED_ID)).toEqual(["e3"])
    const head = await from.head(STORED_ID)
    const more = linesOf(chain(...aside, user("late", { parentId: "e1" })), HEADER).slice(-1)
    await from.append(STORED_ID, more, { expect: { next: head?.next ?? 0, log: head?.log ?? "" } })
    await copySession(sessionsIn(from), STORED_ID, to)
    expect(await openIn(to, STORED_ID)).toEqual(["e24", "e3"])
  })
})

describe("the branches of a pi session", () => {
  const timestamp = "2025-01-01T00:00:00.000Z"
  const old = [
    { type: "session", version: 3, id: "old", timestamp, cwd: "/p" },
    ...aside.map((entry, index) => ({
      id: `e${index + 1}`,
      parentId: index === 0 ? null : `e${index}`,
      timestamp,
      ...entry,
    })),
  ].map((line) => JSON.stringify(line))
  const text = `${old.join("\n")}\n`

  /** Two writers go on at once; the other one's answer is hidden behind this session's. */
  async function continueTwice(storage: SessionStorage, id: string): Promise<string> {
    const [one, two] = [await sessionsIn(storage).open(id), await sessionsIn(storage).open(id)]
    const said = { type: "message", message: { role: "user", content: "go on" } } as const
    const { ids } = await one.append(said)
    await two.append(said)
    await Promise.all([one.close(), two.close()])
    return ids[0] as string
  }

  test.each([
    ["one batch", createMemoryStorage],
    ["several batches", smallBatches],
  ])(
    "are not open when it is imported in %s; later ones are, also in a copy or an import of that",
    async (_, storage) => {
      const [first, second, third] = [storage(), storage(), storage()]
      await importSession(sessionsIn(first), text, { id: "new" })
      expect(await openIn(first, "new")).toEqual([])
      const hidden = await continueTwice(first, "new")
      expect(await openIn(first, "new")).toEqual([hidden])
      await copySession(sessionsIn(first), "new", second)
      expect(await openIn(second, "new")).toEqual([hidden])
      const again = await textOf(exportSession(sessionsIn(second), "new"))
      await importSession(sessionsIn(third), again, { id: "again" })
      expect(await openIn(third, "again")).toEqual([hidden])
    },
  )

  test("are not open when its import was interrupted and repeated", async () => {
    const storage = smallBatches()
    await importInterrupted(sessionsIn(storage), text, "new")
    expect(await openIn(storage, "new")).toEqual([])
  })

  test("are not open when it is read in place, nor after its migration; later ones are", async () => {
    const storage = await storeLines(old)
    expect(await openIn(storage, STORED_ID)).toEqual([])
    const hidden = await continueTwice(storage, STORED_ID)
    expect((await sessionsIn(storage).open(STORED_ID)).header.origin).toMatchObject({ format: "pi", settled: 25 })
    expect(await openIn(storage, STORED_ID)).toEqual([hidden])
  })

  test("of which an older program did not write `origin.settled` are those of its `origin.lines`", async () => {
    const storage = smallBatches()
    const origin = { format: "pi", version: 3, id: "old", lines: 25 }
    const lines = linesOf(chain(...aside, user("x"), user("y", { parentId: "e24" })), { ...HEADER, origin })
    await importSession(sessionsIn(storage), `${lines.join("\n")}\n`, { id: "new" })
    const session = await sessionsIn(storage).open("new")
    expect(session.header.origin).toMatchObject({ lines: 27, settled: 25 })
    expect(await openIn(storage, "new")).toEqual(["e25"])
  })
})

test("a fork has the path alone, and none of the source's open tips", async () => {
  const storage = await storeLines(linesOf(chain(...aside), HEADER))
  await (await forkSession(sessionsIn(storage), STORED_ID, { id: "fork" })).close()
  expect(await openIn(storage, "fork")).toEqual([])
  expect((await sessionBranches(await sessionsIn(storage).open("fork"))).length).toBe(1)
})
