/** An open session that follows what another tab appends. */
import { createSessions, type NewEntry } from "@sessions/core"
import { expect, test } from "vitest"
import { newDatabase, open } from "./databases.ts"

const said = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })

test("a session follows another tab's appends, and ends when that tab deletes it", async () => {
  const database = newDatabase()
  const elsewhere = createSessions({ storage: open(database) })
  const one = await createSessions({ storage: open(database) }).create({ id: "a" })
  await one.append(said("start"))
  const two = await elsewhere.open("a")
  const foreign = new Promise((resolve) => one.on("foreign", ({ entries }) => resolve(entries.length)))
  const following = one.follow().catch((error: unknown) => (error as { code?: unknown }).code)
  await two.append(said("theirs"))
  expect(await foreign).toBe(1)
  expect(one.leafId).toBe(two.leafId)
  await elsewhere.delete("a")
  expect(await following).toBe("not_found")
})
