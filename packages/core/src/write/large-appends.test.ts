/** Alone in its file: what is too large for a line is met here before the code for that was loaded. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import { createSessions } from "../session/repository.ts"
import { rest } from "../session/rooms.ts"

test("an append that is too large for a line waits for the code that moves it, and nobody overtakes it", async () => {
  let now = Date.parse("2026-01-31T09:30:00.000Z")
  const clock = (): number => (now += 1_000)
  const sessions = createSessions({ storage: createMemoryStorage(), blobs: { textUnits: 1_000 }, now: clock })
  const session = await sessions.create({ id: "s" })
  expect(rest.now).toBeUndefined()
  const made = now
  const first = session.append(said("first"))
  const large = session.append(said("large ".repeat(500)))
  const wrong = session.append({ type: "message" })
  const last = session.append([said("last")])
  await expect(wrong).rejects.toMatchObject({ code: "invalid" })
  await Promise.all([first, large, last])
  const { messages } = await session.context()
  expect(messages.map(({ message }) => (message.content[0] as { text: string }).text.slice(0, 5))).toEqual([
    "first",
    "large",
    "last",
  ])
  // An id and a time ask the clock once each: who waits keeps what it was given at first.
  const times: number[] = []
  for await (const { timestamp } of session.entries()) times.push(Date.parse(timestamp) - made)
  expect(times).toEqual([2_000, 4_000, 6_000])
  const stored = await sessions.storage.blobs.list()[Symbol.asyncIterator]().next()
  expect(stored.value).toMatchObject({ bytes: 3_000 })
  await sessions.close()
})

test("whoever gives up an append that waits for that code keeps nobody behind it waiting", async () => {
  const sessions = createSessions({ storage: createMemoryStorage(), oversize: "truncate" })
  const session = await sessions.create({ id: "s" })
  const now = vi.spyOn(rest, "now", "get").mockReturnValue(undefined)
  const load = vi.spyOn(rest, "load").mockReturnValue(new Promise(() => undefined))
  const giveUp = new AbortController()
  const waiting = session.append(said("given up"), { signal: giveUp.signal })
  const behind = session.append(said("behind"))
  await vi.waitUntil(() => now.mock.calls.length === 2)
  now.mockRestore()
  load.mockRestore()
  giveUp.abort()
  await expect(waiting).rejects.toMatchObject({ code: "aborted", sent: false })
  await behind
  expect((await session.messages()).messages).toHaveLength(1)
  await sessions.close()
})

function said(text: string) {
  return { type: "message", message: { role: "user", content: [{ type: "text", text }] } } as const
}
