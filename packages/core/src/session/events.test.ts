import { expect, test } from "vitest"
import { createFaultyStorage } from "@sessions/conformance/faults"
import { createMemoryStorage } from "@sessions/memory"
import { twoRepositories } from "../../test/repositories.ts"
import { user } from "../../test/writers.ts"
import { createSessions } from "./repository.ts"

test("the listeners of a closed handle are silent, and those of another handle on the session are not", async () => {
  const { sessions } = twoRepositories()
  const closed = await sessions.create({ id: "a" })
  const open = await sessions.open("a")
  const heard: string[] = []
  closed.on("appended", () => heard.push("closed"))
  open.on("appended", () => heard.push("open"))
  await closed.close()
  await open.append(user("hello"))
  expect(heard).toEqual(["open"])
})

test("two handles may listen with the same function, and closing one of them ends its listener alone", async () => {
  const { sessions } = twoRepositories()
  const closed = await sessions.create({ id: "a" })
  const open = await sessions.open("a")
  let heard = 0
  const listener = (): void => void heard++
  closed.on("appended", listener)
  const stop = open.on("appended", listener)
  await closed.close()
  await open.append(user("hello"))
  expect(heard).toBe(1)
  stop()
  await open.append(user("again"))
  expect(heard).toBe(1)
})

test("listeners that were added inside a turn end with the handle that ran the turn", async () => {
  const { sessions } = twoRepositories()
  const closed = await sessions.create({ id: "a" })
  const open = await sessions.open("a")
  let heard = 0
  await closed.turn((turn) => void turn.on("appended", () => heard++))
  await open.append(user("hello"))
  expect(heard).toBe(1)
  await closed.close()
  await open.append(user("again"))
  expect(heard).toBe(1)
})

test.each(["the handle", "the repository"])("closing %s still reports the appends that it waits for", async (which) => {
  const storage = createFaultyStorage(createMemoryStorage())
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "a" })
  const heard: string[] = []
  session.on("appended", ({ entries }) => heard.push(...entries.map(({ id }) => id)))
  const release = storage.hold("append")
  const appended = session.append(user("hello", "1"))
  const closing = which === "the handle" ? session.close() : sessions.close()
  release()
  await Promise.all([appended, closing])
  expect(heard).toEqual(["1"])
})
