/** Another repository deletes a session, and creates it again, while it is opened or written. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { twoRepositories } from "../../test/repositories.ts"
import { codeOf, contextTexts, storedLines, user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
import { migrateSession } from "../transfer/index.ts"
import type { Sessions } from "./repository-types.ts"

type Act = () => Promise<unknown>

/** Two repositories on one location; before a `head`, `read` or `append` of the first the act that is planned for this call runs. */
function raced(): {
  readonly one: Sessions
  readonly two: Sessions
  readonly plan: (...acts: readonly (Act | undefined)[]) => void
} {
  const location = createMemoryLocation()
  const memory = createMemoryStorage({ location })
  let planned: (Act | undefined)[] = []
  const act = async (): Promise<unknown> => planned.shift()?.()
  const storage: SessionStorage = {
    ...memory,
    head: async (...args) => (await act(), memory.head(...args)),
    append: async (...args) => (await act(), memory.append(...args)),
    async *read(...args) {
      await act()
      yield* memory.read(...args)
    },
  }
  const two = createSessions({ storage: createMemoryStorage({ location }) })
  return { one: createSessions({ storage }), two, plan: (...acts) => void (planned = [...acts]) }
}

const CALLS = 6

/** Before which call the first act runs, and before which later one the second. */
const PLACES = Array.from({ length: CALLS }, (_, first) =>
  Array.from({ length: CALLS - first }, (__, n) => ({ first, second: first + 1 + n })),
).flat()

/** The session is deleted and created again at these places, in this order or the other. */
function planOf(
  two: Sessions,
  place: { first: number; second: number },
  deletesFirst: boolean,
  texts: string[],
): Act[] {
  const deletes = async (): Promise<unknown> => two.delete("s").catch(() => undefined)
  const creates = async (): Promise<void> => {
    await deletes()
    const made = await two.create({ id: "s" })
    await made.append(texts.map((text) => user(text)))
    await made.close()
  }
  const acts: Act[] = Array.from({ length: CALLS + 1 }, () => async () => undefined)
  acts[place.first] = deletesFirst ? deletes : creates
  acts[place.second] = deletesFirst ? creates : deletes
  return acts
}

test("an append to a session that is deleted or created again meanwhile is `not_found` or `conflict`", async () => {
  const outcomes = new Set<unknown>()
  for (const deletesFirst of [true, false]) {
    for (const place of PLACES) {
      const { one, two, plan } = raced()
      const session = await one.create({ id: "s" })
      await session.append([user("a"), user("b")])
      const rival = await two.open("s")
      plan(() => rival.append(user("theirs")), ...planOf(two, place, deletesFirst, ["x", "y", "z"]))
      const written = await session.append(user("mine")).then(
        () => true,
        (error: { code?: unknown }) => void outcomes.add(error.code),
      )
      plan()
      const lines = await storedLines(one.storage)
      // What is written may be deleted afterwards.
      if (written !== true) expect(lines.filter((line) => line.includes('"mine"'))).toEqual([])
    }
  }
  outcomes.delete("conflict")
  expect([...outcomes]).toEqual(["not_found"])
})

test("openOrCreate opens or creates, whenever another repository deletes the session or creates it again", async () => {
  for (const deletesFirst of [true, false]) {
    for (const count of [1, 300]) {
      for (const place of PLACES) {
        const { one, two, plan } = raced()
        const texts = Array.from({ length: count }, () => "-".repeat(1_000))
        await (await two.create({ id: "s" })).append(texts.map((text) => user(text)))
        plan(...planOf(two, place, deletesFirst, texts))
        expect((await one.openOrCreate("s")).id).toBe("s")
      }
    }
  }
})

test("openOrCreate creates a session that others create and delete before each of its looks", async () => {
  const { one, two, plan } = raced()
  const creates = async (): Promise<unknown> => two.create({ id: "s" })
  const deletes = async (): Promise<unknown> => two.delete("s")
  // `open` looks for it, and each of three attempts to create it is refused, and followed by a look.
  plan(undefined, creates, deletes, creates, deletes, creates, deletes)
  expect((await one.openOrCreate("s")).head).toMatchObject({ next: 1 })
})

test("what another repository deleted is opened anew once a call of an open handle has found that out", async () => {
  for (const recreated of [false, true]) {
    for (const call of ["append", "refresh"] as const) {
      const { sessions: one, elsewhere: two } = twoRepositories()
      const held = await one.openOrCreate("s")
      await held.append(user("before"))
      await two.delete("s")
      if (recreated) await two.create({ id: "s" })
      const found = call === "append" ? held.append(user("lost")) : held.refresh()
      expect(await codeOf(found)).toBe("not_found")
      if (!recreated) expect(await codeOf(one.open("s"))).toBe("not_found")
      const anew = await one.openOrCreate("s")
      await anew.append(user("after"))
      expect(await contextTexts(anew)).toEqual(["after"])
      // A handle on what was deleted stays on that, and closing it closes no other.
      expect(await codeOf(held.append(user("lost")))).toBe("not_found")
      await held.close()
      expect(await contextTexts(await one.openOrCreate("s"))).toEqual(["after"])
    }
  }
})

test("a session whose log was replaced while it was read is opened anew, as its error says", async () => {
  const { storage, elsewhere } = twoRepositories()
  const made = await elsewhere.create({ id: "s" })
  await made.append(Array.from({ length: 50 }, (_, n) => user(`${n} ${"-".repeat(100)}`)))
  const one = createSessions({ storage, readWindow: { first: 500, largest: 1_000 } })
  const held = await one.open("s")
  await elsewhere.delete("s")
  await (await elsewhere.create({ id: "s" })).append(user("theirs"))
  expect(await codeOf(held.messages())).toBe("conflict")
  expect(await contextTexts(await one.open("s"))).toEqual(["theirs"])
})

test("a log of an older version that was deleted or changed is opened anew, as its error says", async () => {
  for (const act of ["refresh", "append"] as const) {
    const { storage, sessions: one, elsewhere: two } = twoRepositories()
    await storage.append("o", OLDER, { expect: 0 })
    const held = await one.open("o")
    await two.delete("o")
    expect(await codeOf(act === "append" ? held.append(user("lost")) : held.refresh())).toBe("not_found")
    const anew = await one.openOrCreate("o")
    await anew.append(user("after"))
    expect(await contextTexts(anew)).toEqual(["after"])
  }
  const { storage, sessions: one, elsewhere: two } = twoRepositories()
  await storage.append("o", OLDER, { expect: 0 })
  const held = await one.open("o")
  await migrateSession(two, "o")
  expect(await codeOf(held.refresh())).toBe("conflict")
  const anew = await one.open("o")
  await anew.append(user("after"))
  expect(await contextTexts(anew)).toEqual(["older", "after"])
})

const OLDER = [
  { type: "session", version: 3, id: "o", timestamp: "2025-01-01T00:00:00.000Z" },
  {
    type: "message",
    id: "aaaaaaaa",
    parentId: null,
    timestamp: "2025-01-01T00:00:01.000Z",
    message: { role: "user", content: "older", timestamp: 1 },
  },
].map((record) => JSON.stringify(record))
