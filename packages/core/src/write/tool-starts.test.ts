/** The starts of tool calls: one of several writers gets one in, and none passes beside a message that it did not know. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { assistant, codeOf, note, storedIds, twoWriters, user } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "../session/repository.ts"

const ANSWER: NewEntry = {
  type: "message",
  id: "a",
  message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "charge", arguments: {} }] },
}
const start = (run: string): NewEntry => {
  const fields = { targetId: "a", callId: "c", call: 0, toolName: "charge", attempt: 1, key: "k" }
  return { type: "tool_start", id: "a.0.1", ...fields, run }
}

test("of two writers that start one call at once, one gets `exists`; a repeated start is the same one", async () => {
  const { location, one, two } = await twoWriters({}, [user("u"), ANSWER])
  const [first, second] = await Promise.allSettled([one.append(start("1")), two.append(start("2"))])
  expect([first.status, second.status].toSorted()).toEqual(["fulfilled", "rejected"])
  expect(first.status === "rejected" ? first.reason : (second as PromiseRejectedResult).reason).toMatchObject({
    code: "exists",
  })
  await (first.status === "fulfilled" ? one.append(start("1")) : two.append(start("2")))
  expect((await storedIds(location)).filter((id) => id === "a.0.1").length).toBe(1)
})

test("a start conflicts with another writer's message, whatever the policy, and not with annotations", async () => {
  for (const onConflict of ["fail", "branch", "rebase", "retry-turn"] as const) {
    const { location, one, two } = await twoWriters({}, [user("u"), ANSWER])
    await two.append(note("n"))
    await one.append(start("1"), { onConflict })
    expect(await storedIds(location)).toContain("a.0.1")
    const other = await twoWriters({}, [user("u"), ANSWER])
    await other.two.append(user("Stop."))
    expect(await codeOf(other.one.append(start("1"), { onConflict }))).toBe("conflict")
    expect(await storedIds(other.location)).not.toContain("a.0.1")
  }
})

test("a start is looked for back to its target, however far that is, and no further", async () => {
  const location = createMemoryLocation()
  const made = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  const long = "-".repeat(1_000)
  for (let n = 0; n < 500; n++) await made.append(user(long))
  await made.append([ANSWER, start("1")])
  for (let n = 0; n < 500; n++) await made.append(assistant(long))
  const memory = createMemoryStorage({ location })
  let lines = 0
  const storage = {
    ...memory,
    async *read(...args: Parameters<typeof memory.read>) {
      for await (const chunk of memory.read(...args)) {
        lines += chunk.lines.length
        yield chunk
      }
    },
  }
  // A clock that is far ahead does not hide it.
  const session = await createSessions({ storage, now: () => Date.now() + 40 * 86_400_000 }).open("s")
  lines = 0
  // One that the log does not have: the search ends at its target.
  await session.append({ ...start("1"), id: "a.0.2", attempt: 2 })
  expect(lines).toBeGreaterThan(400)
  expect(lines).toBeLessThan(800)
  expect(await codeOf(session.append(start("2")))).toBe("exists")
  expect((await session.append(start("1"))).ids).toEqual(["a.0.1"])
})
