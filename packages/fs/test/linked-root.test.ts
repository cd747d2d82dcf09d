/** A root that is a symbolic link works like any other; below it no link is followed. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { expect, test } from "vitest"
import { chunked, fill, filesBelow, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

for (const durability of ["os", "disk"] as const) {
  for (const name of ["link", ".sessions"]) {
    test(`durability ${durability}: everything works with a root ${name} that is a symbolic link`, async () => {
      const { link, real } = makeLink(name)
      const { storage } = openAt(link, { durability, maxPartBytes: 100 })
      const head = await fill(storage, "a", 8)
      await storage.docs.put("pointers", "text", { expect: null })
      await storage.docs.put("sessions/a/d", "text", { expect: null })
      const hash = await storage.blobs.put(new Uint8Array([1]))
      await storage.sync?.("a")
      const replaced = await storage.replace?.("a", chunked(linesTo(2)), { expect: head })
      await storage.append("a", [lineAt(2)], { expect: replaced ?? head })
      await fill(storage, "b", 1)
      expect(await storage.delete("b")).toMatchObject({ purged: true })
      await storage[Symbol.asyncDispose]()

      const direct = openAt(real).storage
      expect(await linesOf(direct, "a")).toEqual(linesTo(3))
      expect((await direct.docs.get("sessions/a/d"))?.text).toBe("text")
      expect(await direct.blobs.has(hash)).toBe(true)
      const ids: string[] = []
      for await (const row of openAt(link).storage.list()) ids.push(row.id)
      expect(ids).toEqual(["a"])
    })

    test(`durability ${durability}: a session below a root ${name} that is a link is made, flushed and closed`, async () => {
      const sessions = createSessions({ storage: openAt(makeLink(name).link, { durability }).storage })
      const session = await sessions.create()
      await session.append({ type: "message", message: { role: "user", content: "hi" } })
      await session.flush()
      await session.close()
      expect(await sessions.info(session.id)).toMatchObject({ id: session.id, messageCount: 1 })
      await sessions.close()
    })
  }
}

test("a link below a root that is a link is refused when it is synced", async () => {
  const { link, real } = makeLink("link")
  const outside = makeRoot()
  const { storage } = openAt(link)
  await fill(storage, "a", 1)
  await storage.blobs.put(new Uint8Array([1]))
  fs.rmSync(join(real, ".blobs"), { recursive: true })
  fs.symlinkSync(outside, join(real, ".blobs"))
  await expect(storage.blobs.put(new Uint8Array([1]))).rejects.toMatchObject({ code: "misconfigured" })
  expect(filesBelow(outside)).toEqual([])
})

function makeLink(name: string): { readonly link: string; readonly real: string } {
  const real = makeRoot()
  const link = join(makeRoot(), name)
  fs.symlinkSync(real, link)
  return { link, real }
}
