/** Values of the right kind that mean nothing: each is refused with a sentence, and nothing is written. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { user } from "../../test/writers.ts"
import { createSessions } from "./repository.ts"

type Loose = (...args: unknown[]) => Promise<unknown>

test("a label is a text or null, and the filters of a list are texts", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ id: "s" })
  await session.append(user("hi", "a"))
  const { next } = session.head
  const label = (session.label as Loose).bind(session)
  await expect(label("a", undefined)).rejects.toMatchObject({ code: "invalid" })
  expect(session.head.next).toBe(next)
  for (const name of ["cwd", "parent"]) {
    const listed = (sessions.list as Loose)({ [name]: 5 })
    await expect(listed).rejects.toMatchObject({ code: "invalid", message: `\`${name}\` must be a string, not 5.` })
  }
})

test.each([Number.NaN, 1e20, Number.NEGATIVE_INFINITY])("a clock that says %s is `invalid`", async (now) => {
  const storage = createMemoryStorage()
  const session = await createSessions({ storage }).create({ id: "s" })
  await session.close()
  const opened = await createSessions({ storage, now: () => now }).open("s")
  await expect(opened.append(user("hi"))).rejects.toMatchObject({
    code: "invalid",
    message: `\`now\` must return milliseconds since 1970, not ${now}.`,
  })
})

test("of two repositories on one storage the second one closes too, and keeps what it has appended", async () => {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const [one, two] = [createSessions({ storage }), createSessions({ storage })]
  const session = await one.create({ id: "s" })
  await session.append(user("hi"))
  const other = await one.create({ id: "t" })
  await other.append(user("hi"))
  await two.close()
  await session.close()
  await one.close()
  const again = createSessions({ storage: createMemoryStorage({ location }) })
  expect((await again.list()).sessions.map(({ messageCount }) => messageCount)).toEqual([1, 1])
  await expect(one.list()).rejects.toMatchObject({
    code: "closed",
    message: expect.stringContaining("a new storage") as string,
  })
})
