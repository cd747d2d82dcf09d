import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, textOf } from "../../../test/transfer.ts"
import { putBackup, readBackup } from "./backup.ts"

test("a log longer than a chunk is restored as it was, also if a character spans two chunks", async () => {
  const storage = createMemoryStorage()
  const lines = ["x".repeat(7_999_998), "é𝄞".repeat(1_500_000), "", "end"]
  const backup = await putBackup(storage, lines)
  expect(backup.blobs).toHaveLength(3)
  expect(backup.bytes).toBe(7_999_999 + 9_000_001 + 1 + 4)
  expect((await textOf(readBackup(storage, "s", { backup }))) === `${lines.join("\n")}\n`).toBe(true)
})

test("a missing backup is `not_found`, and a missing chunk is `corrupt`", async () => {
  const storage = createMemoryStorage()
  expect(await codeOf(textOf(readBackup(storage, "s", { format: "pi", version: 1 })))).toBe("not_found")
  const backup = { blobs: [`sha256:${"a".repeat(64)}`], bytes: 1 }
  expect(await codeOf(textOf(readBackup(storage, "s", { backup })))).toBe("corrupt")
})

test("a backup that is malformed, or whose blobs are no text, is `corrupt`", async () => {
  const storage = createMemoryStorage()
  const hash = await storage.blobs.put(new Uint8Array([0xff]))
  for (const backup of [null, 7, {}, { blobs: 7 }, { blobs: [7] }, { blobs: ["sha256:../x"] }, { blobs: [hash] }]) {
    expect([backup, await codeOf(textOf(readBackup(storage, "s", { backup })))]).toEqual([backup, "corrupt"])
  }
})
