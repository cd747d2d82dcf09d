/** The information of a session that an import wrote in several batches is complete: the first list does not read its log. */
import { expect, test } from "vitest"
import { chain, linesOf, role, user } from "../../../test/chain.ts"
import { createCountingStorage } from "../../../test/counting-storage.ts"
import { HEADER } from "../../../test/logs.ts"
import { sessionsIn, smallBatches } from "../../../test/transfer.ts"
import { importSession } from "../index.ts"

const note = { type: "custom", customType: "agent/note" }
const answer = (model: string) => role("assistant", { content: [], provider: "acme", model })
const more = Array.from({ length: 20 }, (_, n) => user(`${n}`))

/** What the import reads of the log that it has written, and what of it the next question for the information reads. */
async function readBy(...payloads: ReturnType<typeof user>[]) {
  const storage = createCountingStorage(smallBatches())
  const sessions = sessionsIn(storage)
  const lines = linesOf(chain(...payloads), HEADER)
  await importSession(sessions, `${lines.join("\n")}\n`, { id: "new" })
  const byImport = storage.take().lines
  const info = await sessions.info("new")
  return { byImport, byInfo: storage.take().lines, model: info.model?.model, lines: lines.length }
}

test("entries that follow what annotations describe, and not these, leave the information as it is", async () => {
  // e2 and e3 are notes to e1, which the conversation goes on from.
  const notes = [note, note, user("on", { parentId: "e1" }), answer("m1"), note, note, user("on", { parentId: "e5" })]
  const { byImport, byInfo, model } = await readBy(user("first"), ...notes, ...more)
  expect({ byImport, byInfo, model }).toEqual({ byImport: 0, byInfo: 0, model: "m1" })
})

test("the information of a branch is found when the log is there, by one reading", async () => {
  const branches = [answer("m1"), user("q"), answer("m2"), user("back", { parentId: "e2" })]
  const { byImport, byInfo, model, lines } = await readBy(user("first"), ...branches, ...more)
  expect({ byImport, byInfo, model }).toEqual({ byImport: lines, byInfo: 0, model: "m1" })
})

test("a model behind annotations of another entry is not the one at the leaf", async () => {
  const aside = [answer("m1"), answer("m2"), note, { ...note, parentId: "e2" }, user("on", { parentId: "e4" })]
  expect(await readBy(user("first"), ...aside, ...more)).toMatchObject({ byInfo: 0, model: "m2" })
  expect(await readBy(user("first"), ...aside.slice(0, 4), user("on", { parentId: "e2" }), ...more)).toMatchObject({
    byInfo: 0,
    model: "m1",
  })
})
