import { describe, expect, test } from "vitest"
import { createMemoryStorage } from "@sessions/memory"
import { type CountingStorage, createCountingStorage } from "../../test/counting-storage.ts"
import { expectInfo } from "../../test/expect-info.ts"
import { headerOf, slotsOf } from "../../test/logs.ts"
import { OLDER_INFOS, type OlderInfo } from "../../test/older-info.ts"
import { createSessions } from "../session/repository.ts"
import type { Tips } from "../log/tips.ts"
import { startProjection } from "./projection.ts"
import { encodeProjection, parseProjection } from "./projection-text.ts"

const NOW = Date.UTC(2026, 5, 1)

async function stored({ lines, text, place, blobs = {} }: OlderInfo): Promise<CountingStorage> {
  const storage = createCountingStorage(createMemoryStorage({ clock: () => NOW }))
  for (const bytes of Object.values(blobs)) await storage.blobs.put(new Uint8Array(Buffer.from(bytes, "base64")))
  const created = await storage.append("s", lines.slice(0, 1), { expect: 0 })
  const own = text.replace('"LOG"', JSON.stringify(created.log))
  await storage.append("s", lines.slice(1), { expect: created, ...(place === "head" ? { info: own } : {}) })
  if (place === "doc") await storage.docs.put("sessions/s/info", own, { expect: null })
  storage.take()
  return storage
}

describe("information that an older program stored", () => {
  test.each(OLDER_INFOS)("is reused, and is stale only if it was uncertain: $name", ({ text, stale }) => {
    const { v: _, ...fields } = JSON.parse(text) as Record<string, unknown>
    for (const doubt of ["modelUnknown", "promptsLost", "valuesApart"]) delete fields[doubt]
    expect(parseProjection(text)).toEqual({ ...fields, ...(stale === undefined ? {} : { stale }) })
  })

  test.each(OLDER_INFOS)("is listed correctly, and the log is read only if it was uncertain: $name", async (older) => {
    const storage = await stored(older)
    const list = await createSessions({ storage }).list()
    const { lines } = storage.take()
    if (older.stale === undefined) expect(lines).toBe(0)
    else expect(lines).toBeGreaterThan(0)
    const [info] = list.sessions
    if (older.place === "doc") return expect(info).toMatchObject({ cwd: "/old", firstPrompt: "old", messageCount: 1 })
    expect(info).toMatchObject(toldOf(older))
    const again = await createSessions({ storage }).list()
    expect(again.sessions[0]).toMatchObject(toldOf(older))
    expect(storage.take().lines).toBe(0)
  })
})

/** The projection of the log with the text of the blob in place of its reference. */
function toldOf({ lines, blobs = {} }: OlderInfo): object {
  const whole = lines.map((line) =>
    Object.entries(blobs).reduce(
      (text, [hash, bytes]) => text.replace(`blob:sha256:${hash}`, Buffer.from(bytes, "base64").toString()),
      line,
    ),
  )
  return expectInfo(slotsOf(whole), headerOf(whole), NOW)
}

test("a stale projection has a version that older programs ignore, and any other the version that they read", () => {
  const projection = startProjection({}, "l")
  expect(encodeProjection(projection)).toMatch(/^\{"v":1,/)
  for (const stale of ["path", "log"] as const) {
    const text = encodeProjection({ ...projection, stale })
    expect(text).toMatch(/^\{"v":2,/)
    expect(parseProjection(text)).toEqual({ ...projection, stale })
  }
  expect(parseProjection(encodeProjection(projection))).toEqual(projection)
  expect(parseProjection(JSON.stringify({ v: 3, ...projection }))).toBeUndefined()
})

const TIPS: Tips = {
  tips: [{ seq: 1, id: "a", near: ["n"], lossy: true, repeated: true }],
  current: 1,
  more: 2,
  damaged: 3,
}

test("tips are read back as they were written", () => {
  const projection = { ...startProjection({}, "l"), to: { seq: 4, id: "e4" }, tips: TIPS, settled: 9 } as const
  expect(parseProjection(encodeProjection(projection))).toEqual(projection)
})

test("tips of an invalid shape are dropped, and nothing else", () => {
  const start = { ...startProjection({}, "l"), to: { seq: 4, id: "e4" } }
  const { tips: _, ...without } = start
  const [tip] = TIPS.tips
  const invalid = [
    { tips: null },
    { tips: [] },
    { tips: { ...TIPS, tips: [{ ...tip, near: "n" }] } },
    { tips: { ...TIPS, tips: [{ ...tip, seq: 5 }], current: null } },
    { tips: { ...TIPS, current: 2 } },
    { tips: { ...TIPS, more: -1 } },
    { tips: TIPS, settled: "9" },
  ]
  for (const fields of invalid) {
    expect(parseProjection(encodeProjection({ ...start, ...(fields as object) }))).toEqual(without)
  }
})

test("tips and stamps are dropped if an older program, which keeps fields that it does not know, has continued the projection", () => {
  const projection = { ...startProjection({}, "l"), to: { seq: 4, id: "e4" }, tips: TIPS, settled: 9 }
  const older = { ...JSON.parse(encodeProjection(projection)), to: { seq: 5, id: "e5" }, messageCount: 1 }
  const { tips: _, settled: __, stamps: ___, ...rest } = projection
  expect(parseProjection(JSON.stringify(older))).toEqual({ ...rest, to: { seq: 5, id: "e5" }, messageCount: 1 })
})
