/** Lines of 100 MB: more than a part may hold, but within the maximum string length of every runtime. */
import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import { header, jsonl, log, message } from "./logs.ts"
import { createWorkspace, refusal, type Workspace } from "./workspace.ts"

const HUGE = 100_000_000

/** 60 MB in texts that are each too short to be stored as a blob. */
const SHORT_TEXTS = Array.from({ length: 150 }, () => "s".repeat(400_000))

/** A log with `line` as its third line. */
function hugeLog(line: string): Buffer {
  return Buffer.concat([
    Buffer.from(jsonl(header("huge"), message("m1", null, 1, "before"))),
    Buffer.from(`${line}\n`),
    Buffer.from(jsonl(message("m3", "m1", 3, "after"))),
  ])
}

const messageCount = async (workspace: Workspace, id: string): Promise<number> => {
  const { stdout } = await workspace.cli("show", id, "--json", "--last", "0")
  return (JSON.parse(stdout) as { info: { messageCount: number } }).info.messageCount
}

test("a file with a text of 100 MB is imported, and the text is read back", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", hugeLog(message("m2", "m1", 2, "y".repeat(HUGE))))
  const imported = await workspace.cli("import", "in.jsonl", "--id", "in")
  expect(imported.stderr).toBe("")
  expect(imported.exit).toBe(0)
  expect(workspace.log("in").length).toBeLessThan(10_000)
  expect(await messageCount(workspace, "in")).toBe(3)
  const sessions = workspace.open()
  const session = await sessions.open("in")
  const entry = (await session.entry("m2")) as unknown as { message: { content: { text: string }[] } }
  expect(entry.message.content[0]?.text.length).toBe(HUGE)
  await session.close()
  expect((await workspace.cli("verify", "in")).exit).toBe(0)
})

test("a line that is too long for a part, of texts too short for blobs, is refused before anything is written", async () => {
  const workspace = createWorkspace()
  const data = JSON.stringify(SHORT_TEXTS)
  workspace.file(
    "in.jsonl",
    hugeLog(`{"type":"custom","id":"m2","parentId":"m1","seq":2,"timestamp":"x","customType":"c","data":${data}}`),
  )
  const result = await workspace.cli("import", "in.jsonl", "--id", "in")
  expect(refusal(1)(result)).toBeUndefined()
  expect(existsSync(workspace.store)).toBe(false)
})

test("a file of 100 MB without a line feed is refused", async () => {
  const workspace = createWorkspace()
  workspace.file("zeros", Buffer.alloc(HUGE))
  expect(refusal(1)(await workspace.cli("import", "zeros"))).toBeUndefined()
})

test.each(["a message", "not JSON"])(
  "a line of 100 MB (%s) in a store is read or reported, and keeps its bytes",
  async (what) => {
    const workspace = createWorkspace()
    const content = hugeLog(what === "a message" ? message("m2", "m1", 2, "y".repeat(HUGE)) : "z".repeat(HUGE))
    workspace.writeLog("huge", { from: 0, content })
    workspace.writeLog("small", { from: 0, content: log("small") })
    const context = await workspace.cli("context", "huge")
    expect(context).toMatchObject({ exit: 0, stdout: expect.stringContaining("after") })
    const verified = await workspace.cli("verify", "huge")
    expect(verified).toMatchObject({ exit: what === "a message" ? 0 : 1, stderr: "" })
    expect(await workspace.cli("rename", "huge", "title")).toMatchObject({ exit: 0, stderr: "" })
    expect((await workspace.cli("list", "--json")).stdout).toContain('"small"')
    expect(workspace.log("huge").subarray(0, content.length).equals(content)).toBe(true)
  },
)

test("a message of 100 MB is appended, and an entry too large for a part is refused before it is written", async () => {
  const workspace = createWorkspace()
  const sessions = workspace.open()
  const session = await sessions.create({ id: "huge" })
  await session.append({ type: "message", message: { role: "user", content: "y".repeat(HUGE) } })
  const before = workspace.log("huge")
  await expect(session.append({ type: "custom", customType: "c", data: SHORT_TEXTS })).rejects.toMatchObject({
    code: "too_large",
  })
  await session.append({ type: "message", message: { role: "assistant", content: "fine" } })
  await session.close()
  expect(workspace.log("huge").subarray(0, before.length).equals(before)).toBe(true)
  expect(workspace.log("huge").length).toBeLessThan(10_000)
  expect((await workspace.cli("context", "huge")).stdout).toContain("fine")
})
