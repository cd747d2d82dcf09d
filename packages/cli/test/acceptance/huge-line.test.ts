/** One line of 100 MB: more than a part may hold, less than a text of any runtime here. */
import { expect, test } from "vitest"
import { header, jsonl, log, message } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { makePlace, refusal } from "./workspace.ts"

const HUGE = 100_000_000

/** 60 MB in texts that none of them goes to the blob store. */
const SHORT_TEXTS = Array.from({ length: 150 }, () => "s".repeat(400_000))

/** Whole logs with one such line, and what a command says of it where it stands in a store. */
function hugeLog(line: string): Buffer {
  return Buffer.concat([
    Buffer.from(jsonl(header("huge"), message("m1", null, 1, "before"))),
    Buffer.from(`${line}\n`),
    Buffer.from(jsonl(message("m3", "m1", 3, "after"))),
  ])
}

const messageCount = async (place: Place, id: string): Promise<number> => {
  const { stdout } = await place.cli("show", id, "--json", "--last", "0")
  return (JSON.parse(stdout) as { info: { messageCount: number } }).info.messageCount
}

test("a file with a text of 100 MB is imported, and the text comes back", async () => {
  const place = makePlace()
  place.file("in.jsonl", hugeLog(message("m2", "m1", 2, "y".repeat(HUGE))))
  const imported = await place.cli("import", "in.jsonl", "--id", "in")
  expect(imported.stderr).toBe("")
  expect(imported.exit).toBe(0)
  expect(place.log("in").length).toBeLessThan(10_000)
  expect(await messageCount(place, "in")).toBe(3)
  const sessions = place.open()
  const session = await sessions.open("in")
  const entry = (await session.entry("m2")) as unknown as { message: { content: { text: string }[] } }
  expect(entry.message.content[0]?.text.length).toBe(HUGE)
  await session.close()
  expect((await place.cli("verify", "in")).exit).toBe(0)
})

test("a file with a line that is too long for a part, of texts too short to stand elsewhere, is refused before anything is written", async () => {
  const place = makePlace()
  const data = JSON.stringify(SHORT_TEXTS)
  place.file(
    "in.jsonl",
    hugeLog(`{"type":"custom","id":"m2","parentId":"m1","seq":2,"timestamp":"x","customType":"c","data":${data}}`),
  )
  const result = await place.cli("import", "in.jsonl", "--id", "in")
  expect(refusal(1)(result)).toBeUndefined()
  expect((await place.cli("list")).stdout).toContain("No sessions")
})

test("a file of 100 MB without a line feed is no session, and is said so", async () => {
  const place = makePlace()
  place.file("zeros", Buffer.alloc(HUGE))
  expect(refusal(1)(await place.cli("import", "zeros"))).toBeUndefined()
})

test.each(["a message", "no JSON"])(
  "a line of 100 MB (%s) in a store: commands read it or say so, and nothing of it is lost",
  async (what) => {
    const place = makePlace()
    const content = hugeLog(what === "a message" ? message("m2", "m1", 2, "y".repeat(HUGE)) : "z".repeat(HUGE))
    place.plant("huge", { from: 0, content })
    place.plant("small", { from: 0, content: log("small") })
    const context = await place.cli("context", "huge")
    expect(context).toMatchObject({ exit: 0, stdout: expect.stringContaining("after") })
    const verified = await place.cli("verify", "huge")
    expect(verified).toMatchObject({ exit: what === "a message" ? 0 : 1, stderr: "" })
    expect(await place.cli("rename", "huge", "title")).toMatchObject({ exit: 0, stderr: "" })
    expect((await place.cli("list", "--json")).stdout).toContain('"small"')
    expect(place.log("huge").subarray(0, content.length).equals(content)).toBe(true)
  },
)

test("a message of 100 MB is appended, and one that no part can hold is refused before it is written", async () => {
  const place = makePlace()
  const sessions = place.open()
  const session = await sessions.create({ id: "huge" })
  await session.append({ type: "message", message: { role: "user", content: "y".repeat(HUGE) } })
  const before = place.log("huge")
  await expect(session.append({ type: "custom", customType: "c", data: SHORT_TEXTS })).rejects.toMatchObject({
    code: "too_large",
  })
  await session.append({ type: "message", message: { role: "assistant", content: "fine" } })
  await session.close()
  expect(place.log("huge").subarray(0, before.length).equals(before)).toBe(true)
  expect(place.log("huge").length).toBeLessThan(10_000)
  expect((await place.cli("context", "huge")).stdout).toContain("fine")
})
