/** The same log gives the same leaf, whether the session has written it, has read it from another writer, or opens it. */
import { branchWithSummary } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { holdsAsync } from "../../test/property.ts"
import { sessionsReading } from "../../test/stored.ts"
import {
  assistant,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  twoWriters,
  user,
} from "../../test/writers.ts"
import type { Session } from "./types.ts"

const ACTIONS: Readonly<Record<string, (session: Session, id: string) => Promise<unknown>>> = {
  message: (session) => session.append(user("more")),
  annotations: (session) => session.append([note("n"), { type: "acme:note" }]),
  both: (session) => session.append([note("n"), assistant("said"), note("n")]),
  model: (session) => session.append({ type: "model_change", provider: "p", model: "m" }),
  title: (session) => session.title("t"),
  label: (session, id) => session.label(id, "l"),
  tombstone: (session, id) => session.tombstone(id),
  reset: (session) => session.resetLeaf(),
  branch: (session, id) => session.branch(id),
  summary: (session) => branchWithSummary(session, null, "left"),
  settle: (session) => session.settle([]),
}

test("after any calls of one writer", async () => {
  const actions = fc.array(fc.tuple(fc.constantFrom(...Object.keys(ACTIONS)), fc.nat()), { maxLength: 12 })
  await holdsAsync(
    fc.asyncProperty(actions, fc.boolean(), async (chosen, startsWithMetadata) => {
      const location = createMemoryLocation()
      const metadata = startsWithMetadata ? { a: 1 } : {}
      const session = await createWriter(location).sessions.create({ id: "s", metadata })
      for (const [name, n] of chosen) {
        const entries = await storedEntries(location)
        const id = entries[n % entries.length]?.id
        if (id !== undefined || !["label", "tombstone", "branch"].includes(name))
          await ACTIONS[name]?.(session, id ?? "")
        expect((await reopened(location)).leafId).toBe(session.leafId)
        expect((await readingLines(location)).leafId).toBe(session.leafId)
      }
    }),
    40,
  )
})

describe("after resetLeaf and annotations", () => {
  test("the leaf is null and the next entry a root, also for a session that opens the log", async () => {
    const { location, one } = await twoWriters({}, [user("before")])
    await one.resetLeaf()
    await one.title("named")
    await one.append(note("n"))
    const opened = await readingLines(location)
    expect([one.leafId, opened.leafId]).toEqual([null, null])
    expect((await opened.path()).entries).toEqual([])
    const { ids } = await opened.append(user("new"))
    expect(await opened.entry(ids[0] as string)).toMatchObject({ parentId: null })
  })

  test("of another writer, it is null for a session that reads them", async () => {
    const { location, one, two } = await twoWriters({}, [user("before")])
    await one.resetLeaf()
    const three = await reopened(location)
    await two.title("named")
    await one.refresh()
    await three.refresh()
    expect([one.leafId, three.leafId]).toEqual([null, null])
    await two.label((await storedEntries(location))[0]?.id as string, "first")
    // Placed behind the label, which it did not know.
    await one.append(note("n"))
    expect(one.leafId).toBeNull()
  })

  test("of another writer, an append that is placed behind them is a root", async () => {
    const { location, one, two } = await twoWriters({}, [user("before")])
    await one.resetLeaf()
    await one.title("named")
    const { ids } = await two.append(user("new"), { onConflict: "rebase" })
    expect(await two.entry(ids[0] as string)).toMatchObject({ parentId: null })
    expect(await contextTexts(await reopened(location))).toEqual(["new"])
  })

  test("more of them than are read at once need no older line if the information is current", async () => {
    const { location, one } = await twoWriters({}, [user("before")])
    await one.resetLeaf()
    for (let n = 0; n < 20; n++) await one.append(note("n"))
    const storage = createMemoryStorage({ location })
    const read: number[] = []
    const counting: typeof storage = {
      ...storage,
      read(id, range, o) {
        read.push((range as { from?: number })?.from ?? -1)
        return storage.read(id, range, o)
      },
    }
    expect((await sessionsReading(counting, 1).open("s")).leafId).toBeNull()
    // The header, and the window of the last line.
    expect(read).toEqual([0, -1])
  })
})

/** The session as it is opened line by line, from a log without information. */
async function readingLines(location: MemoryLocation): Promise<Session> {
  const storage = createMemoryStorage({ location })
  const head: typeof storage.head = async (id, o) => {
    const { info: _, ...found } = (await storage.head(id, o)) ?? {}
    return found as Awaited<ReturnType<typeof storage.head>>
  }
  return sessionsReading({ ...storage, head }, 1).open("s")
}
