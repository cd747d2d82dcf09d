import { createMemoryStorage } from "@sessions/memory"
import { expect, onTestFinished, test } from "vitest"
import { createSessions } from "../session/repository.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { exportSession, importSession } from "../transfer/index.ts"

/** As browsers have it on pages over http. */
function removeWebCrypto(): void {
  const before = Object.getOwnPropertyDescriptor(globalThis, "crypto") as PropertyDescriptor
  const { crypto } = globalThis
  const value = { getRandomValues: <T extends Uint8Array>(bytes: T): T => crypto.getRandomValues(bytes as never) }
  Object.defineProperty(globalThis, "crypto", { value, configurable: true })
  onTestFinished(() => void Object.defineProperty(globalThis, "crypto", before))
}

const data = btoa("x".repeat(3_000))
const long = "y".repeat(600_000)
const image: NewEntry = {
  type: "message",
  message: { role: "user", content: [{ type: "image", mimeType: "image/png", data }] },
}
const text: NewEntry = { type: "message", message: { role: "user", content: long } }

test("without Web Crypto an image and a long text stay in their lines, and are read and exported", async () => {
  removeWebCrypto()
  const storage = createMemoryStorage()
  const session = await createSessions({ storage }).create({ id: "s" })
  await session.append(image)
  await session.append(text)
  const sessions = createSessions({ storage })
  const { messages } = await (await sessions.open("s")).context()
  const stored = JSON.stringify(messages)
  expect([stored.includes(data), stored.includes(long)]).toEqual([true, true])
  const lines: string[] = []
  for await (const line of exportSession(sessions, "s")) lines.push(line)
  expect(lines.join("").includes("blob:sha256:")).toBe(false)
  expect(await importSession(createSessions({ storage: createMemoryStorage() }), lines.join(""))).toMatchObject({
    lines: 3,
  })
})

test("without Web Crypto an entry that no line holds is refused as one that is too large", async () => {
  removeWebCrypto()
  const session = await createSessions({ storage: createMemoryStorage({ limits: { maxLineBytes: 500_000 } }) }).create()
  await expect(session.append(text)).rejects.toMatchObject({ code: "too_large" })
  await session.append({ type: "message", message: { role: "user", content: "short" } })
  expect((await session.info()).messageCount).toBe(1)
})
