/** Sessions that other agents wrote. They are not part of the project; without them these tests are skipped. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import { whyRefused } from "../../test/sendable.ts"

const folder = fileURLToPath(new URL("../../../../../shared/fixtures/", import.meta.url))
const present = existsSync(folder)
if (!present) console.info("Skipped: there is no ../shared/fixtures beside the project.")

const linesOf = (name: string): string[] =>
  readFileSync(`${folder}${name}.jsonl`, "utf8")
    .split("\n")
    .filter((line) => line !== "")

test.skipIf(!present)(
  "a log of version 1 has the 446 messages that its own agent shows, each with an existing entry",
  async () => {
    const sessions = sessionsReading(await storeLines(linesOf("pi/v1-two-compactions")), 1)
    const session = await sessions.open(STORED_ID)
    const { messages, model } = await session.context({ repair: "none" })
    expect(messages).toHaveLength(446)
    const ids = new Set<string>()
    for await (const { id } of session.entries()) ids.add(id)
    expect(messages.filter(({ entryId }) => !ids.has(entryId))).toEqual([])
    expect(model).toEqual({ provider: expect.any(String), model: expect.any(String) })
    expect(whyRefused((await session.context()).messages)).toBeUndefined()
  },
)

test.skipIf(!present)("its context is the same after a migration in place, read line by line", async () => {
  const sessions = sessionsReading(await storeLines(linesOf("pi/v1-two-compactions")), 1)
  const before = await (await sessions.open(STORED_ID)).context({ repair: "none" })
  await sessions.migrate(STORED_ID)
  const again = sessionsReading(sessions.storage, 1)
  expect(await (await again.open(STORED_ID)).context({ repair: "none" })).toEqual(before)
})

test.skipIf(!present)("a log that ends in a reset boundary has an empty context", async () => {
  const session = await sessionsReading(await storeLines(linesOf("oh-my-pi/title-slot-v3")), 1).open(STORED_ID)
  expect((await session.context()).messages).toEqual([])
  expect((await session.messages()).messages.length).toBeGreaterThan(0)
})
