import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { formats } from "../src/formats.ts"
import { importFile } from "../src/import-file.ts"

const TIME = "2026-09-01T10:00:00.000Z"
const jsonl = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const line = (ordinal: number, type: string, payload: object) => ({ timestamp: TIME, ordinal, type, payload })
const said = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })

const session = [
  line(0, "session_meta", { id: "e1", timestamp: TIME, cwd: "/work" }),
  line(1, "response_item", said("long ago")),
  line(2, "compacted", { message: "", replacement_history: [{ type: "compaction", encrypted_content: "gAAA" }] }),
  line(3, "response_item", said("now")),
]
const unknown = line(4, "from_the_future", { text: "words of a kind" })

const importing = (sessions: Parameters<typeof importFile>[0], text: string) => {
  const source = async function* () {
    yield text
  }
  return importFile(sessions, source, { from: formats })
}

test("an import says in words and numbers what no model gets of the file", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const { losses } = await importing(sessions, jsonl(...session, unknown))
  expect(losses).toEqual([
    { what: "history", count: 1, message: expect.stringContaining("3 records, is encrypted") },
    { what: "unknown", count: 1, characters: 15, message: expect.stringContaining("1 records with 15 characters") },
  ])
})

test("an import that goes on says it of what has come, and a second one says nothing", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  await importing(sessions, jsonl(...session))
  const grown = jsonl(...session, unknown)
  expect((await importing(sessions, grown)).losses.map(({ what }) => what)).toEqual(["unknown"])
  expect((await importing(sessions, grown)).losses).toEqual([])
})

test("the title is that of the session, and a file that goes on has none without a line that gives it one", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  expect((await importing(sessions, jsonl(...session))).title).toBe("long ago")
  const more = line(4, "response_item", said("and more"))
  expect(await importing(sessions, jsonl(...session, more))).not.toHaveProperty("title")
})
