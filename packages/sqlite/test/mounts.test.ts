/** A disk that is really full, and one that is really read-only: small file systems in memory, if this user may mount them. */
import { unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Head } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { cannotMount, makeReadOnly, mountTmpfs } from "../../fs/test/tmpfs.ts"
import { fill, lineAt, linesOf, linesTo, openAt } from "./helpers.ts"

const leftOut = cannotMount()

test.skipIf(leftOut).each(["os", "disk"] as const)(
  "durability %s: on a full disk an append is `quota`, nothing acknowledged is lost, and it works again once there is room",
  async (durability) => {
    const folder = mountTmpfs("size=1m")
    writeFileSync(join(folder, "ballast"), new Uint8Array(200_000))
    const path = join(folder, "sessions.db")
    const storage = openAt(path, { durability })
    let head: Head | 0 = 0
    const lines: string[] = []
    let refused: unknown
    while (refused === undefined) {
      const batch = [lineAt(lines.length, 900), lineAt(lines.length + 1, 900)]
      try {
        head = await storage.append("a", batch, { expect: head })
        lines.push(...batch)
      } catch (error) {
        refused = error
      }
    }
    expect(refused).toMatchObject({ code: "quota", message: expect.stringContaining("The disk is full") as string })
    expect(lines.length).toBeGreaterThan(20)
    expect(await linesOf(storage, "a")).toEqual(lines)
    for (let again = 0; again < 3; again++) {
      await expect(storage.append("a", linesTo(9, 90_000), { expect: head })).rejects.toMatchObject({ code: "quota" })
    }
    expect(await linesOf(openAt(path), "a")).toEqual(lines)

    unlinkSync(join(folder, "ballast"))
    await storage.append("a", ["on"], { expect: head })
    expect(await linesOf(openAt(path), "a")).toEqual([...lines, "on"])
  },
)

test.skipIf(leftOut)("a file on a read-only file system is `misconfigured`, and says why", async () => {
  const folder = mountTmpfs("size=2m")
  const path = join(folder, "sessions.db")
  const writer = openAt(path)
  await fill(writer, "a", 3)
  await writer[Symbol.asyncDispose]()
  makeReadOnly(folder)
  const refused = {
    code: "misconfigured",
    message: expect.stringContaining("writes beside the file even to read it") as string,
  }
  await expect(openAt(path).head("a")).rejects.toMatchObject(refused)
  await expect(openAt(path).append("b", ["x"], { expect: 0 })).rejects.toMatchObject(refused)
})
