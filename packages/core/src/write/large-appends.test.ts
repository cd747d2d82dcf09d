import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../session/repository.ts"

test("an append that is too large for a line keeps its position, its id and its time", async () => {
  let now = Date.parse("2026-01-31T09:30:00.000Z")
  const clock = (): number => (now += 1_000)
  const sessions = createSessions({ storage: createMemoryStorage(), blobs: { textUnits: 1_000 }, now: clock })
  const session = await sessions.create({ id: "s" })
  const made = now
  const first = session.append(said("first"))
  const large = session.append(said("large ".repeat(500)))
  const wrong = session.append({ type: "message" } as never)
  const last = session.append([said("last")])
  await expect(wrong).rejects.toMatchObject({ code: "invalid" })
  await Promise.all([first, large, last])
  const { messages } = await session.context()
  expect(messages.map(({ message }) => (message.content[0] as { text: string }).text.slice(0, 5))).toEqual([
    "first",
    "large",
    "last",
  ])
  // An id and a time read the clock once each, and so does the put of the blob, before the last append.
  const times: number[] = []
  for await (const { timestamp } of session.entries()) times.push(Date.parse(timestamp) - made)
  expect(times).toEqual([2_000, 4_000, 7_000])
  const stored = await sessions.storage.blobs.list()[Symbol.asyncIterator]().next()
  expect(stored.value).toMatchObject({ bytes: 3_000 })
  await sessions.close()
})

function said(text: string) {
  return { type: "message", message: { role: "user", content: [{ type: "text", text }] } } as const
}
