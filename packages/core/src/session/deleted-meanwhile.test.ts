/** Another repository deletes a session, and creates it again, while it is opened or written. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { storedLines, user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
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
