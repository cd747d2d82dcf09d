import { runInNewContext } from "node:vm"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { hasCode } from "../format/errors.ts"
import { createSessions } from "../session/repository.ts"
import { exportSession, importSession } from "../transfer/index.ts"
import { isBytes, isError, tagOf } from "./realm.ts"

/** A value of another realm, as of another frame or a VM context. */
const foreign = (code: string): unknown => runInNewContext(code)

test("a value of another realm is what it is", () => {
  expect(isBytes(foreign("new Uint8Array(2)"))).toBe(true)
  expect(isError(foreign("new TypeError('no')"))).toBe(true)
  expect(tagOf(foreign("new Set()"))).toBe("Set")
  for (const other of [undefined, null, 5, "text", {}, [1], new Uint16Array(1), new DataView(new ArrayBuffer(1))]) {
    expect(isBytes(other)).toBe(false)
    expect(isError(other)).toBe(false)
  }
})

test("bytes of another realm are stored as a blob", async () => {
  const storage = createMemoryStorage()
  const hash = await storage.blobs.put(foreign("new Uint8Array([1, 2, 3])") as Uint8Array)
  expect(await storage.blobs.get(hash)).toEqual(new Uint8Array([1, 2, 3]))
})

test("a file of another realm's bytes is imported", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ id: "s" })
  await session.append({ type: "message", message: { role: "user", content: "hello" } })
  let text = ""
  for await (const line of exportSession(sessions, "s")) text += line
  const bytes = foreign("(codes) => new Uint8Array(codes)") as (codes: number[]) => Uint8Array
  const file = bytes([...new TextEncoder().encode(text)])
  expect(await importSession(createSessions({ storage: createMemoryStorage() }), file)).toMatchObject({ lines: 2 })
})

test("an error of another realm has its code", () => {
  expect(hasCode(foreign("Object.assign(new Error('full'), { code: 'quota' })"), "quota")).toBe(true)
  expect(hasCode({ code: "quota", message: "no error" }, "quota")).toBe(false)
})
