import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chain, header, jsonl, message, textsOf } from "./logs.ts"
import { createWorkspace } from "./workspace.ts"
import { verifySession } from "@sessions/core/transfer"

const LAST = message("m3", "m2", 3, "gr\u00fc\u00df dich \ud83d\ude00\u2028")
const WHOLE = jsonl(header("torn"), ...chain(2))
const BYTES = Buffer.byteLength(LAST)

/** Each near the start and in the text at the end, where characters have several bytes, and some of those between. */
const OFFSETS = Array.from({ length: BYTES + 1 }, (_, kept) => kept).filter(
  (kept) => kept < 3 || kept > BYTES - 30 || kept % 5 === 0,
)

// Divided among two tests.
test.each([0, 1])(
  "a log torn at any byte of its last record opens, and the torn bytes are kept in a file (%i of 2)",
  async (share) => {
    for (const kept of OFFSETS.filter((_, n) => n % 2 === share)) {
      const workspace = createWorkspace()
      const torn = Buffer.from(LAST).subarray(0, kept)
      workspace.writeLog("torn", { from: 0, content: Buffer.concat([Buffer.from(WHOLE), torn]) })
      const before = workspace.log("torn")
      const sessions = workspace.open()

      const report = await verifySession(sessions, "torn")
      expect(
        report.diagnostics.map(({ code }) => code),
        `${kept}`,
      ).toEqual(kept === 0 ? [] : ["torn_tail"])
      expect(report.damaged).toBe(kept > 0)

      const session = await sessions.open("torn")
      expect(textsOf((await session.context()).messages), `${kept}`).toEqual(["text 1", "text 2"])
      expect(workspace.log("torn").equals(before), `reading wrote at ${kept}`).toBe(true)

      await session.append({ type: "message", message: { role: "user", content: "after" } })
      await session.close()
      const lines = workspace.log("torn").toString()
      expect(lines.startsWith(WHOLE), `${kept}`).toBe(true)
      expect(lines.split("\n").length, `${kept}`).toBe(5)
      expect(tornFilesOf(join(workspace.store, "torn")), `${kept}`).toEqual(kept === 0 ? [] : [torn.toString("hex")])

      const again = workspace.open()
      const reopened = await again.open("torn")
      expect(textsOf((await reopened.context()).messages), `${kept}`).toEqual(["text 1", "text 2", "after"])
      // Only a whole line may have been a record, so the file that has it is named from then on.
      const codes = (await verifySession(again, "torn")).diagnostics.map(({ code }) => code)
      expect(codes, `${kept}`).toEqual(kept === BYTES ? ["torn_tail"] : [])
      await again.close()
      await sessions.close()
    }
  },
)

function tornFilesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".torn"))
    .map((name) => readFileSync(join(folder, name)).toString("hex"))
}

test("a file torn at any byte of its last record is imported with all complete lines and a diagnostic", async () => {
  for (const kept of OFFSETS.filter((at) => at > 0 && at < BYTES && at % 2 === 1)) {
    const workspace = createWorkspace()
    const torn = Buffer.from(LAST).subarray(0, kept)
    workspace.file("in.jsonl", Buffer.concat([Buffer.from(WHOLE), torn]))
    const result = await workspace.cli("import", "in.jsonl", "--id", "in")
    expect(result, `${kept}`).toMatchObject({ exit: 0, stdout: "in\n" })
    expect(result.stderr, `${kept}`).not.toBe("")
    const { stdout } = await workspace.cli("context", "in", "--json")
    expect(textsOf((JSON.parse(stdout) as { messages: never[] }).messages), `${kept}`).toEqual(["text 1", "text 2"])
  }
})

test.each(["session.jsonl", "session_part2.3.jsonl"])(
  "a torn tail in %s of a log in two parts loses no complete line",
  async (name) => {
    const workspace = createWorkspace()
    const [first, second] = [jsonl(header("torn"), ...chain(2)), jsonl(LAST)]
    const torn = Buffer.from('{"type":"mess')
    const withTear = (part: string, text: string): Buffer =>
      Buffer.concat([Buffer.from(text), name === part ? torn : Buffer.alloc(0)])
    workspace.writeLog(
      "torn",
      { from: 0, content: withTear("session.jsonl", first) },
      { from: 3, content: withTear("session_part2.3.jsonl", second) },
    )
    for (const argv of [
      ["show", "torn"],
      ["context", "torn"],
      ["verify", "torn"],
      ["rename", "torn", "title"],
      ["export", "torn"],
    ]) {
      const result = await workspace.cli(...argv)
      expect(result.stderr, argv.join(" ")).not.toContain("unexpected")
    }
    const { stdout } = await workspace.cli("context", "torn", "--json")
    expect(textsOf((JSON.parse(stdout) as { messages: never[] }).messages).length).toBe(3)
  },
)

test("a log with only a torn header is damaged, and its id can be used once it is deleted", async () => {
  const workspace = createWorkspace()
  workspace.writeLog("torn", { from: 0, content: header("torn").slice(0, 40) })
  expect((await workspace.cli("show", "torn")).exit).toBe(1)
  expect((await workspace.cli("list", "--json")).exit).toBe(0)
  workspace.file("in.jsonl", WHOLE)
  expect((await workspace.cli("import", "in.jsonl", "--id", "torn")).exit).toBe(1)
  expect((await workspace.cli("verify", "torn")).stdout).toContain("corrupt")
  expect((await workspace.cli("rm", "torn", "--yes")).exit).toBe(0)
  expect((await workspace.cli("import", "in.jsonl", "--id", "torn")).exit).toBe(0)
  expect(workspace.log("torn").toString()).toBe(WHOLE)
  expect((await workspace.cli("verify", "torn")).exit).toBe(0)
})
